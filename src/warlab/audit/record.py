"""Running sums of what a network says of every training sample while it is trained.

Of a batch with logits z (B, C) and given labels y (B,), each sample adds to its own row of the sums (N, C + 3):

    p = softmax(z)   margin = z_y - max_{c != y} z_c   loss = -log p_y   and 1 for having been seen

Means over the epochs follow from them, so the memory is that of N · (C + 3) numbers however long a training is.
Logits are tensors of PyTorch, on any device, or arrays of numpy; torch is imported only if tensors come in.
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

    def arrays(self) -> dict[str, np.ndarray]:
        """As they are kept in a file; `Means(**arrays)` reads them back."""
        return dict(vars(self))

    def among(self, numbers: np.ndarray, total: int) -> "Means":
        """The same samples by their numbers among `total` ones, of which the others were never seen."""
        empty = {"labels": -1, "seen": 0}
        spread = {}
        for name, values in vars(self).items():
            spread[name] = np.full((total, *values.shape[1:]), empty.get(name, np.nan), values.dtype)
            spread[name][numbers] = values
        return Means(**spread)


class RecordState(TypedDict):
    """What a checkpoint keeps of a record; arrays or tensors."""

    sums: Any
    labels: Any
    waiting: list[tuple[Any, Any, Any]]


class Record:
    """The sums of one training. `epochs` are those that count, such as range(20); by default all of them do."""

    def __init__(self, n_samples: int, n_classes: int, epochs: Container[int] | None = None) -> None:
        if n_samples < 1 or n_classes < 2:
            raise WarlabError(f"An audit needs samples and two classes at least, not {n_samples} and {n_classes}.")
        self.n_samples = n_samples
        self.n_classes = n_classes
        self.epochs = epochs
        self._sums: Any = None  # (N, C + 3), an array or a tensor, made when the first batch shows which
        self._labels: Any = None  # (N,)
        self._waiting: list[tuple[Any, Any, Any]] = []

    def update(self, logits: Any, labels: Any, index: Any, epoch: int | None = None) -> None:
        """Take note of a training batch: logits (B, C), given labels (B,), numbers of the samples (B,).

        Call it once per step with the logits that the loss is made of. Nothing of the graph is kept or changed.
        """
        if self.epochs is not None:
            if epoch is None:
                raise WarlabError("This audit counts some epochs only; say which one it is: update(…, epoch=epoch).")
            if epoch not in self.epochs:
                return
        self._check_shapes(logits, labels, index)
        copy = logits.detach().float().clone() if hasattr(logits, "detach") else np.array(logits, np.float32)
        self._waiting.append((copy, labels, index))
        if sum(len(one) for one, _, _ in self._waiting) >= ROWS:
            self._add()

    def means(self) -> Means:
        """Averages over all batches so far, as arrays of numpy."""
        self._add()
        if self._sums is None:
            sums = np.zeros((self.n_samples, self.n_classes + EXTRA), np.float32)
            labels = np.full(self.n_samples, -1)
        else:
            sums, labels = (np.array(_numpy(values)) for values in (self._sums, self._labels))
        seen = sums[:, -1]
        with np.errstate(invalid="ignore"):
            found = np.where(seen[:, None] > 0, sums[:, :-1] / np.maximum(seen, 1)[:, None], np.nan)
        return Means(
            labels=labels.astype(np.int64),
            probabilities=np.ascontiguousarray(found[:, :-2], np.float32),
            margin=found[:, -2].astype(np.float32),
            loss=found[:, -1].astype(np.float32),
            seen=seen.astype(np.int64),
        )

    def state_dict(self) -> RecordState:
        """All that a resumed training needs to end with the same bits; rows that wait go on waiting."""
        return {"sums": self._sums, "labels": self._labels, "waiting": list(self._waiting)}

    def load_state_dict(self, state: RecordState) -> None:
        if state["sums"] is not None and tuple(state["sums"].shape) != (self.n_samples, self.n_classes + EXTRA):
            n, columns = state["sums"].shape
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
        waiting, self._waiting = self._waiting, []
        backend: Any = _Tensors if hasattr(waiting[0][0], "detach") else _Arrays
        logits, labels, index = (backend.joined(parts) for parts in zip(*waiting, strict=True))
        self._check_range(labels, self.n_classes, "label")
        self._check_range(index, self.n_samples, "sample")
        if self._sums is None:
            self._sums = backend.zeros(logits, (self.n_samples, self.n_classes + EXTRA))
            self._labels = backend.zeros(index, (self.n_samples,)) - 1
        self._sums, self._labels = backend.like(self._sums, logits), backend.like(self._labels, index)
        backend.add(self._sums, index, backend.rows(logits, labels))
        self._labels[index] = labels

    def _check_range(self, values: Any, end: int, what: str) -> None:
        if len(values) and not (int(values.min()) >= 0 and int(values.max()) < end):
            raise WarlabError(
                f"An audit was told of {what} {int(values.min())} to {int(values.max())}; the numbers go from 0 to "
                f"{end - 1}."
            )


def _numpy(values: Any) -> np.ndarray:
    return values.cpu().numpy() if hasattr(values, "detach") else values


class _Arrays:
    """What is done with arrays of numpy."""

    @staticmethod
    def joined(parts: Any) -> np.ndarray:
        whole = np.concatenate([np.asarray(part) for part in parts])
        return whole.astype(np.int64) if whole.ndim == 1 else whole

    @staticmethod
    def zeros(like: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        return np.zeros(shape, like.dtype)

    @staticmethod
    def like(values: np.ndarray, other: np.ndarray) -> np.ndarray:
        return values

    @staticmethod
    def add(sums: np.ndarray, index: np.ndarray, rows: np.ndarray) -> None:
        np.add.at(sums, index, rows)

    @staticmethod
    def rows(z: np.ndarray, y: np.ndarray) -> np.ndarray:
        """(B, C + 3)"""
        at = np.arange(len(z)), y
        log_p = z - z.max(1, keepdims=True)
        log_p -= np.log(np.exp(log_p).sum(1, keepdims=True))
        others = z.copy()
        others[at] = -np.inf
        return np.column_stack([np.exp(log_p), z[at] - others.max(1), -log_p[at], np.ones(len(z), z.dtype)])


class _Tensors:
    """What is done with tensors, on the device where the logits are: no step waits for a number."""

    @staticmethod
    def joined(parts: Any) -> Any:
        import torch

        device = parts[-1].device  # a checkpoint may have been read to another one
        whole = torch.cat([torch.as_tensor(part).to(device) for part in parts])
        return whole.long() if whole.dim() == 1 else whole

    @staticmethod
    def zeros(like: Any, shape: tuple[int, ...]) -> Any:
        return like.new_zeros(shape)

    @staticmethod
    def like(values: Any, other: Any) -> Any:
        return values.to(other.device)

    @staticmethod
    def add(sums: Any, index: Any, rows: Any) -> None:
        sums.index_add_(0, index, rows)

    @staticmethod
    def rows(z: Any, y: Any) -> Any:
        """(B, C + 3)"""
        import torch

        y = y[:, None]
        log_p = z.log_softmax(1)
        margin = z.gather(1, y) - z.scatter(1, y, -torch.inf).amax(1, keepdim=True)
        return torch.cat([log_p.exp(), margin, -log_p.gather(1, y), torch.ones_like(margin)], 1)
