"""Running sums of the predictions for every training sample during a training.

Each sample of a batch with logits z (B, C) and given labels y (B,) adds to its own row of the sums (N, C + 3):

    p = softmax(z)   margin = z_y - max_{c != y} z_c   loss = -log p_y   and 1 to count how often it was seen

Means over the epochs follow from these sums, so the memory of N · (C + 3) numbers does not depend on the epochs.
They are in double precision: an object of a map is seen once per pixel, and single precision stops counting at 2^24.
Logits are PyTorch tensors, on any device, or numpy arrays. Importing this module does not import torch.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from warlab.errors import WarlabError

EXTRA = 3  # columns of the sums after those of the classes: margin, loss, how often seen
ROWS = 4096  # rows that are collected and then added at once, which is far cheaper than adding every batch


@dataclass(frozen=True)
class Means:
    """The given labels of N samples, mean predictions for them, and how often they were `seen`.

    labels (N,) int64; probabilities (N, C), margin (N,), loss (N,) float32. A sample that was never seen has NaN and
    label -1.
    """

    labels: np.ndarray
    probabilities: np.ndarray
    margin: np.ndarray
    loss: np.ndarray
    seen: np.ndarray

    def expand(self, index: np.ndarray, total: int) -> "Means":
        """Return the means of `total` samples: these have the indices `index`, the others were never seen."""
        unseen = {"labels": -1, "seen": 0}
        arrays = {}
        for name, values in vars(self).items():
            arrays[name] = np.full((total, *values.shape[1:]), unseen.get(name, np.nan), values.dtype)
            arrays[name][index] = values
        return Means(**arrays)


class RecordState(TypedDict):
    """The tensors of a record in a checkpoint."""

    sums: Any
    labels: Any
    waiting: list[tuple[Any, Any, Any]]


class Record:
    """The sums of one training. `epochs` are those that count, such as range(20); by default all of them."""

    def __init__(self, n_samples: int, n_classes: int, epochs: Iterable[int] | None = None) -> None:
        import torch

        if n_samples < 1 or n_classes < 2:
            raise WarlabError(f"An audit needs samples and two classes at least, not {n_samples} and {n_classes}.")
        self.n_samples = n_samples
        self.n_classes = n_classes
        self.epochs = None if epochs is None else frozenset(int(epoch) for epoch in epochs)
        self._sums: Any = torch.zeros(n_samples, n_classes + EXTRA, dtype=torch.float64)  # later on the logits' device
        self._labels: Any = torch.full((n_samples,), -1)  # on the CPU
        self._waiting: list[tuple[Any, Any, Any]] = []
        self._are_logits = False  # until enough rows have been looked at

    def update(self, logits: Any, labels: Any, index: Any, epoch: int | None = None) -> None:
        """Record a training batch: logits (B, C), given labels (B,), numbers of the samples (B,).

        Call it once per step with the logits that the loss is computed from. The autograd graph is not kept or changed,
        and the audit keeps copies of what it is given. A batch that is refused leaves the audit as it was; on a GPU the
        numbers are looked at later, so that no step waits for them, and only that batch is left out.
        """
        import torch

        if self.epochs is not None:
            if epoch is None:
                raise WarlabError("This audit counts only some epochs; name the epoch: update(…, epoch=epoch).")
            if int(epoch) not in self.epochs:
                return
        logits, labels, index = batch = [torch.as_tensor(values).detach() for values in (logits, labels, index)]
        rows = tuple(logits.shape[:1])
        if tuple(logits.shape) != (*rows, self.n_classes) or any(tuple(v.shape) != rows for v in (labels, index)):
            shapes = ", ".join(str(tuple(values.shape)) for values in batch)
            raise WarlabError(
                f"Logits, labels and indices have the shapes {shapes}; an audit of {self.n_classes} classes "
                f"takes (B, {self.n_classes}), (B,) and (B,)."
            )
        for values, what in ((labels, "labels"), (index, "indices")):
            if values.dtype == torch.bool or values.is_floating_point() or values.is_complex():
                raise WarlabError(f"The {what} of an audit are {values.dtype}; give integers.")
        copies = logits.to(torch.float32, copy=True), labels.to(torch.long, copy=True), index.to(torch.long, copy=True)
        self._refuse_probabilities(copies[0])
        if not (labels.is_cuda or index.is_cuda):
            self._accept(*copies[1:])
        self._waiting.append(copies)
        if sum(len(one) for one, _, _ in self._waiting) >= ROWS:
            self._add()

    def means(self) -> Means:
        """Means over all batches so far, as numpy arrays."""
        self._add()
        sums, labels = self._sums.cpu().numpy(), self._labels.numpy()
        seen = sums[:, -1]
        with np.errstate(invalid="ignore"):
            means = np.where(seen[:, None] > 0, sums[:, :-1] / np.maximum(seen, 1)[:, None], np.nan)
        return Means(
            labels=labels.copy(),
            probabilities=np.ascontiguousarray(means[:, :-2], np.float32),
            margin=means[:, -2].astype(np.float32),
            loss=means[:, -1].astype(np.float32),
            seen=seen.astype(np.int64),
        )

    def state_dict(self) -> RecordState:
        """Return copies of what a resumed training needs for the same bits; collected rows are not added early."""
        return {"sums": self._sums.clone(), "labels": self._labels.clone(), "waiting": list(self._waiting)}

    def load_state_dict(self, state: RecordState) -> None:
        n, columns = state["sums"].shape
        if (n, columns) != (self.n_samples, self.n_classes + EXTRA):
            raise WarlabError(
                f"The saved audit is of {n} samples and {columns - EXTRA} classes, this one of {self.n_samples} and "
                f"{self.n_classes}; load it into an audit of its own size."
            )
        self._waiting = [tuple(part.clone() for part in batch) for batch in state["waiting"]]
        self._sums, self._labels = state["sums"].double().clone(), state["labels"].cpu().clone()

    def _refuse_probabilities(self, logits: Any) -> None:
        """Look at the first rows: of probabilities, the audit would take the softmax again."""
        from warlab.common.labels import looks_like_probabilities

        if self._are_logits:
            return
        suspicious = looks_like_probabilities(logits)
        if suspicious:
            raise WarlabError(
                "An audit was given probabilities (rows that sum to 1) in place of logits; give the model's output "
                "before the softmax, or the logarithm of the probabilities."
            )
        self._are_logits = suspicious is False

    def _accept(self, labels: Any, index: Any) -> None:
        """Take the labels of samples that are new, and check them all."""
        self._check_range(labels, index)
        labels, index = labels.cpu(), index.cpu()
        before = self._labels[index]
        self._labels[index] = labels.where(before < 0, before)
        if len(other := (self._labels[index] != labels).nonzero()[:, 0]):
            first = other[0]
            known = int(self._labels[index[first]])
            self._labels[index] = before
            raise WarlabError(
                f"An audit was given label {int(labels[first])} for sample {int(index[first])}, whose label was "
                f"{known} before; give the same labels and indices in every epoch, those of the dataset."
            )

    def _check_range(self, labels: Any, index: Any) -> None:
        for values, end, what in ((labels, self.n_classes, "label"), (index, self.n_samples, "sample")):
            if len(values) and not (int(values.min()) >= 0 and int(values.max()) < end):
                raise WarlabError(
                    f"An audit was given {what} {int(values.min())} to {int(values.max())} in a batch; the numbers go "
                    f"from 0 to {end - 1}."
                )

    def _leave_out_bad_batches(self) -> None:
        """Keep the other batches, and raise the error of the first bad one."""
        good, errors = [], []
        for batch in self._waiting:
            try:
                self._accept(*batch[1:])
                good.append(batch)
            except WarlabError as error:
                errors.append(error)
        self._waiting = good
        if errors:
            raise errors[0]

    def _add(self) -> None:
        """Add the collected rows."""
        if not self._waiting:
            return
        import torch

        device = self._waiting[-1][0].device  # a checkpoint may have been loaded to another one
        logits, labels, index = (
            torch.cat([part.to(device) for part in parts]) for parts in zip(*self._waiting, strict=True)
        )
        try:
            self._refuse_probabilities(logits)
        except WarlabError:
            self._waiting = []
            raise
        try:
            self._accept(labels, index)
        except WarlabError:
            self._leave_out_bad_batches()
        self._waiting = []
        device = "cpu" if device.type == "mps" else device  # Apple's GPUs have no double precision
        self._sums = self._sums.to(device)
        y, log_p = labels[:, None], logits.log_softmax(1)
        margin = logits.gather(1, y) - logits.scatter(1, y, -torch.inf).amax(1, keepdim=True)
        rows = torch.cat([log_p.exp(), margin, -log_p.gather(1, y), torch.ones_like(margin)], 1)  # as above, (B, C + 3)
        self._sums.index_add_(0, index.to(device), rows.to(device, torch.float64))
