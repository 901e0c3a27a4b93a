"""Running sums of what a network says of every training sample while it is trained.

Of a batch with logits z (B, C) and given labels y (B,), each sample adds to its own row of the sums (N, C + 3):

    p = softmax(z)   margin = z_y - max_{c != y} z_c   loss = -log p_y   and 1 for having been seen

Means over the epochs follow from them, so the memory is that of N · (C + 3) numbers however long a training is.
Logits are tensors of PyTorch, on any device, or arrays of numpy. Importing this module does not import torch.
"""

from collections.abc import Container
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from warlab.errors import WarlabError

EXTRA = 3  # columns of the sums behind those of the classes: margin, loss, times seen
ROWS = 4096  # rows that wait before they are added together: one addition costs far less than many


@dataclass(frozen=True)
class Means:
    """What N samples were given and what the network said of them on average; `seen` counts how often.

    labels (N,) int64, probabilities (N, C), margin (N,), loss (N,) float32; NaN and label -1 where never seen.
    """

    labels: np.ndarray
    probabilities: np.ndarray
    margin: np.ndarray
    loss: np.ndarray
    seen: np.ndarray

    def among(self, numbers: np.ndarray, total: int) -> "Means":
        """The same samples by their numbers among `total` ones, of which the others were never seen."""
        empty = {"labels": -1, "seen": 0}
        spread = {}
        for name, values in vars(self).items():
            spread[name] = np.full((total, *values.shape[1:]), empty.get(name, np.nan), values.dtype)
            spread[name][numbers] = values
        return Means(**spread)


class RecordState(TypedDict):
    """What a checkpoint keeps of a record: tensors."""

    sums: Any
    labels: Any
    waiting: list[tuple[Any, Any, Any]]


class Record:
    """The sums of one training. `epochs` are those that count, such as range(20); by default all of them do."""

    def __init__(self, n_samples: int, n_classes: int, epochs: Container[int] | None = None) -> None:
        import torch

        if n_samples < 1 or n_classes < 2:
            raise WarlabError(f"An audit needs samples and two classes at least, not {n_samples} and {n_classes}.")
        self.n_samples = n_samples
        self.n_classes = n_classes
        self.epochs = epochs
        self._sums: Any = torch.zeros(n_samples, n_classes + EXTRA, dtype=torch.float32)  # on the logits' device later
        self._labels: Any = torch.full((n_samples,), -1)
        self._waiting: list[tuple[Any, Any, Any]] = []

    def update(self, logits: Any, labels: Any, index: Any, epoch: int | None = None) -> None:
        """Take note of a training batch: logits (B, C), given labels (B,), numbers of the samples (B,).

        Call it once per step with the logits that the loss is made of. Nothing of the graph is kept or changed.
        """
        import torch

        if self.epochs is not None:
            if epoch is None:
                raise WarlabError("This audit counts some epochs only; say which one it is: update(…, epoch=epoch).")
            if epoch not in self.epochs:
                return
        self._check_shapes(logits, labels, index)
        self._waiting.append((torch.as_tensor(logits).detach().float().clone(), labels, index))
        if sum(len(one) for one, _, _ in self._waiting) >= ROWS:
            self._add()

    def means(self) -> Means:
        """Averages over all batches so far, as arrays of numpy."""
        self._add()
        sums, labels = self._sums.cpu().numpy(), self._labels.cpu().numpy()
        seen = sums[:, -1]
        with np.errstate(invalid="ignore"):
            found = np.where(seen[:, None] > 0, sums[:, :-1] / np.maximum(seen, 1)[:, None], np.nan)
        return Means(
            labels=labels.copy(),
            probabilities=np.ascontiguousarray(found[:, :-2], np.float32),
            margin=found[:, -2].astype(np.float32),
            loss=found[:, -1].astype(np.float32),
            seen=seen.astype(np.int64),
        )

    def state_dict(self) -> RecordState:
        """All that a resumed training needs to end with the same bits; rows that wait go on waiting."""
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

    def _check_shapes(self, logits: Any, labels: Any, index: Any) -> None:
        rows = tuple(logits.shape[:1])
        if tuple(logits.shape) != (*rows, self.n_classes) or any(tuple(v.shape) != rows for v in (labels, index)):
            shapes = ", ".join(str(tuple(values.shape)) for values in (logits, labels, index))
            raise WarlabError(
                f"Logits, labels and numbers of samples have the shapes {shapes}; an audit of {self.n_classes} classes "
                f"takes (B, {self.n_classes}), (B,) and (B,)."
            )

    def _add(self) -> None:
        """Add the rows that wait."""
        if not self._waiting:
            return
        import torch

        waiting, self._waiting = self._waiting, []
        device = waiting[-1][0].device  # a checkpoint may have been read to another one
        logits, labels, index = (
            torch.cat([torch.as_tensor(part).to(device) for part in parts]) for parts in zip(*waiting, strict=True)
        )
        labels, index = labels.long(), index.long()
        self._check_range(labels, self.n_classes, "label")
        self._check_range(index, self.n_samples, "sample")
        self._sums, self._labels = self._sums.to(device), self._labels.to(device)
        self._sums.index_add_(0, index, _rows(logits, labels[:, None]))
        self._labels[index] = labels

    def _check_range(self, values: Any, end: int, what: str) -> None:
        if len(values) and not (int(values.min()) >= 0 and int(values.max()) < end):
            raise WarlabError(
                f"An audit was told of {what} {int(values.min())} to {int(values.max())}; the numbers go from 0 to "
                f"{end - 1}."
            )


def _rows(z: Any, y: Any) -> Any:
    """What a batch adds to the sums (B, C + 3); y is (B, 1). No step waits for a number of another device."""
    import torch

    log_p = z.log_softmax(1)
    margin = z.gather(1, y) - z.scatter(1, y, -torch.inf).amax(1, keepdim=True)
    return torch.cat([log_p.exp(), margin, -log_p.gather(1, y), torch.ones_like(margin)], 1)
