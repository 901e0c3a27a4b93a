"""Linear classifiers on features of images, whose predictions for a sample never come from that sample's own label,
nor from the labels of its copies: samples that share a row of the stored features.

Two of them, both with an intercept, fitted on the `kept` samples and applied to all:

    ridge       min_W Σ |W x - onehot(y)|² + λ |W|²; a prediction for a kept sample is that of the fit without it, in
                closed form: (ŷ - h y) / (1 - h), leverage h; without k copies with labels of the sum s it is
                (ŷ - h s) / (1 - k h). λ is the one with the smallest leave-one-out error.
    logistic    min_W Σ -log softmax(W x)_y + |W|² / (2 C), 5-fold: the fold of a sample is left out of its fit

Features stay on disk and are read in blocks, so memory grows with N · classes, not with N · features.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from warlab.common.seeds import derive_seed

BLOCK = 4096  # samples in memory at once
FIT_AT_MOST = 50_000  # samples that a logistic regression is fitted on; it has some ten thousand weights
FOLDS = 5
C = 0.001  # of the logistic regression, for standardised features; 0.01 is worse (docs/evidence/audit)
RIDGES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)  # λ per sample


@dataclass(frozen=True)
class Table:
    """Standardised features (N, d): sample i has row `rows[i]` of `stored`, which may be a file in float16."""

    stored: np.ndarray
    rows: np.ndarray
    mean: np.ndarray
    scale: np.ndarray

    @classmethod
    def standardise(cls, stored: np.ndarray, rows: np.ndarray) -> "Table":
        sums = np.zeros((2, stored.shape[1]))
        for start in range(0, len(rows), BLOCK):
            block = stored[rows[start : start + BLOCK]].astype(np.float64)
            sums += block.sum(0), (block**2).sum(0)
        mean, square = sums / max(len(rows), 1)
        deviation = np.sqrt(np.maximum(square - mean**2, 0))
        scale = np.where(deviation > 1e-6, deviation, 1.0)
        return cls(stored, rows, mean.astype(np.float32), scale.astype(np.float32))

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: np.ndarray) -> np.ndarray:
        """Return float32 (B, d)."""
        return (self.stored[self.rows[index]].astype(np.float32) - self.mean) / self.scale

    def copies(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the first sample (M,) of each row that is used, and the place (N,) of each sample's row in it."""
        _, first, group = np.unique(self.rows, return_index=True, return_inverse=True)
        return first, group

    def blocks(self, index: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for start in range(0, len(index), BLOCK):
            part = index[start : start + BLOCK]
            yield part, self[part]


def ridge(table: Table, labels: np.ndarray, classes: int, kept: np.ndarray) -> np.ndarray:
    """Return the predictions (N, classes) for all samples of a ridge regression on those in the mask `kept`."""
    inside, n = np.flatnonzero(kept), int(kept.sum())
    target = np.eye(classes, dtype=np.float32)
    y_mean = (np.bincount(labels[inside], minlength=classes) / n).astype(np.float32)
    x_mean = (sum(x.sum(0, dtype=np.float64) for _, x in table.blocks(inside)) / n).astype(np.float32)
    values, basis = _principal_axes(table, inside, x_mean)
    first, group = table.copies()
    given = np.zeros((len(first), classes), np.float32)  # labels of the kept copies of each row
    np.add.at(given, (group[inside], labels[inside]), 1)
    cross = np.zeros((len(values), classes))
    for part, x in table.blocks(inside):
        cross += ((x - x_mean) @ basis).T @ (target[labels[part]] - y_mean)

    def predict(x: np.ndarray, part: np.ndarray, strength: float) -> np.ndarray:
        """Return the predictions for a block in the basis of the eigenvectors, without the labels of its copies."""
        shrunk, own = 1 / (values + strength), given[group[part]].astype(np.float64)
        fitted = y_mean + x @ (shrunk[:, None] * cross).astype(np.float32)
        leverage = (1 / n + x**2 @ shrunk.astype(np.float32))[:, None]
        return (fitted - leverage * own) / np.maximum(1 - leverage * own.sum(1, keepdims=True), 1e-6)

    sample = thinned(inside, FIT_AT_MOST)
    errors = np.zeros(len(RIDGES))
    for part, x in table.blocks(sample):
        turned = (x - x_mean) @ basis
        for number, each in enumerate(RIDGES):
            errors[number] += ((predict(turned, part, each * n) - target[labels[part]]) ** 2).sum()
    strength = RIDGES[int(errors.argmin())] * n
    found = np.empty((len(table), classes), np.float32)
    for part, x in table.blocks(np.arange(len(table))):
        found[part] = predict((x - x_mean) @ basis, part, strength)
    return found


def _principal_axes(table: Table, inside: np.ndarray, x_mean: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues (r,) and eigenvectors (d, r) of the scatter matrix; r = n if there are fewer samples."""
    width = len(x_mean)
    if len(inside) < width:
        x = table[inside] - x_mean
        values, left = np.linalg.eigh(x.astype(np.float64) @ x.T.astype(np.float64))
        left, values = left[:, values > 1e-6 * values[-1]], values[values > 1e-6 * values[-1]]
        return values, (x.T @ left / np.sqrt(values)).astype(np.float32)
    scatter = np.zeros((width, width))
    for _, x in table.blocks(inside):
        x -= x_mean
        scatter += x.T @ x
    values, vectors = np.linalg.eigh(scatter)
    return np.maximum(values, 0), vectors.astype(np.float32)


def logistic(table: Table, labels: np.ndarray, classes: int, kept: np.ndarray, strength: float = C) -> np.ndarray:
    """Return the probabilities (N, classes) for all samples, each by the fit that leaves out its fold."""
    found = np.empty((len(table), classes), np.float32)
    first, group = table.copies()
    fold = folds(labels)[first[group]]  # copies are left out together
    for number in range(FOLDS):
        inside = thinned(np.flatnonzero(kept & (fold != number)), FIT_AT_MOST)
        weight, bias = _fit(table[inside], labels[inside], classes, strength)
        for part, x in table.blocks(np.flatnonzero(fold == number)):
            found[part] = softmax(x @ weight + bias)
    return found


def _fit(x: np.ndarray, y: np.ndarray, classes: int, strength: float) -> tuple[np.ndarray, np.ndarray]:
    import torch
    from torch.nn.functional import cross_entropy

    if not len(x):  # the samples that were kept are all in one fold: without them, nothing is known
        return np.zeros((x.shape[1], classes), np.float32), np.zeros(classes, np.float32)
    inputs, labels = torch.from_numpy(x), torch.from_numpy(y)
    weight = torch.zeros(x.shape[1], classes, requires_grad=True)
    bias = torch.zeros(classes, requires_grad=True)
    optimiser = torch.optim.LBFGS(
        [weight, bias], max_iter=100, tolerance_grad=1e-4, tolerance_change=1e-5, line_search_fn="strong_wolfe"
    )

    def closure() -> Any:
        optimiser.zero_grad()
        penalty = weight.square().sum() / (2 * strength * len(x))
        loss = cross_entropy(torch.addmm(bias, inputs, weight), labels) + penalty
        loss.backward()
        return loss

    optimiser.step(closure)
    return weight.detach().numpy(), bias.detach().numpy()


def folds(labels: np.ndarray, number: int = FOLDS) -> np.ndarray:
    """Return the fold (N,) of each sample; every class is spread over all folds."""
    rng = np.random.default_rng(derive_seed("audit", "folds"))
    shuffled = rng.permutation(len(labels))
    order = shuffled[np.argsort(labels[shuffled], kind="stable")]  # sorted by class, shuffled inside
    fold = np.empty(len(labels), np.int64)
    fold[order] = np.arange(len(labels)) % number
    return fold


def thinned(index: np.ndarray, most: int) -> np.ndarray:
    """Return a sorted random part of the indices, of at most this length."""
    if len(index) <= most:
        return index
    rng = np.random.default_rng(derive_seed("audit", "part"))
    return np.sort(rng.choice(index, most, replace=False))


def softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)
