"""Running sums of the predictions for every training sample during a training.

Each sample of a batch with logits z (B, C) and given labels y (B,) adds to its own row of the sums (N, C + 3):

    p = softmax(z)   margin = z_y - max_{c != y} z_c   loss = -log p_y   and 1 to count how often it was seen

Means over the epochs follow from these sums, so the memory of N · (C + 3) numbers does not depend on the epochs.
Logits are PyTorch tensors, on any device, or numpy arrays. Importing this module does not import torch.
"""

from collections.abc import Container
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

    def __init__(self, n_samples: int, n_classes: int, epochs: Container[int] | None = None) -> None:
        import torch

        if n_samples < 1 or n_classes < 2:
            raise WarlabError(f"An audit needs samples and two classes at least, not {n_samples} and {n_classes}.")
        self.n_samples = n_samples
        self.n_classes = n_classes
        self.epochs = epochs
        self._sums: Any = torch.zeros(n_samples, n_classes + EXTRA, dtype=torch.float32)  # later on the logits' device
        self._labels: Any = torch.full((n_samples,), -1)
        self._waiting: list[tuple[Any, Any, Any]] = []

    def update(self, logits: Any, labels: Any, index: Any, epoch: int | None = None) -> None:
        """Record a training batch: logits (B, C), given labels (B,), numbers of the samples (B,).

        Call it once per step with the logits that the loss is computed from. The autograd graph is not kept or changed.
        """
        import torch

        if self.epochs is not None:
            if epoch is None:
                raise WarlabError("This audit counts only some epochs; name the epoch: update(…, epoch=epoch).")
            if epoch not in self.epochs:
                return
        rows = tuple(logits.shape[:1])
        if tuple(logits.shape) != (*rows, self.n_classes) or any(tuple(v.shape) != rows for v in (labels, index)):
            shapes = ", ".join(str(tuple(values.shape)) for values in (logits, labels, index))
            raise WarlabError(
                f"Logits, labels and indices have the shapes {shapes}; an audit of {self.n_classes} classes "
                f"takes (B, {self.n_classes}), (B,) and (B,)."
            )
        self._waiting.append((torch.as_tensor(logits).detach().float().clone(), labels, index))
        if sum(len(one) for one, _, _ in self._waiting) >= ROWS:
            self._add()

    def means(self) -> Means:
        """Means over all batches so far, as numpy arrays."""
        self._add()
        sums, labels = self._sums.cpu().numpy(), self._labels.cpu().numpy()
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
        """Return what a resumed training needs for the same bits; collected rows are not added early."""
        return {"sums": self._sums, "labels": self._labels, "waiting": list(self._waiting)}

    def load_state_dict(self, state: RecordState) -> None:
        n, columns = state["sums"].shape
        if (n, columns) != (self.n_samples, self.n_classes + EXTRA):
            raise WarlabError(
                f"The saved audit is of {n} samples and {columns - EXTRA} classes, this one of {self.n_samples} and "
                f"{self.n_classes}; load it into an audit of its own size."
            )
        self._sums, self._labels = state["sums"], state["labels"]
        self._waiting = list(state["waiting"])

    def _add(self) -> None:
        """Add the collected rows."""
        if not self._waiting:
            return
        import torch

        waiting, self._waiting = self._waiting, []
        device = waiting[-1][0].device  # a checkpoint may have been loaded to another one
        logits, labels, index = (
            torch.cat([torch.as_tensor(part).to(device) for part in parts]) for parts in zip(*waiting, strict=True)
        )
        labels, index = labels.long(), index.long()
        for values, end, what in ((labels, self.n_classes, "label"), (index, self.n_samples, "sample")):
            if len(values) and not (int(values.min()) >= 0 and int(values.max()) < end):
                raise WarlabError(
                    f"An audit was given {what} {int(values.min())} to {int(values.max())}; the numbers go from 0 to "
                    f"{end - 1}."
                )
        self._sums, self._labels = self._sums.to(device), self._labels.to(device)
        y, log_p = labels[:, None], logits.log_softmax(1)
        margin = logits.gather(1, y) - logits.scatter(1, y, -torch.inf).amax(1, keepdim=True)
        rows = torch.cat([log_p.exp(), margin, -log_p.gather(1, y), torch.ones_like(margin)], 1)  # as above, (B, C + 3)
        self._sums.index_add_(0, index, rows)
        self._labels[index] = labels
