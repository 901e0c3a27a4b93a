"""Transition matrices, whose row i holds the probabilities that label i becomes j, and labels drawn from them.

Every sample is drawn by itself, so that counts are random and not exact fractions, as in the generator of
Patrini et al. (2017), which the authors' code uses.
"""

import numpy as np

from warlab.errors import WarlabError


def corrupt(labels: np.ndarray, matrix: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Replace each label i by a draw from row i of `matrix`; one random number per sample."""
    _check(labels, matrix)
    cumulative = np.cumsum(matrix, axis=1)
    # Exactly 1 from the last possible class on, so that rounding never selects an impossible one.
    cumulative /= cumulative[:, -1:]
    draws = rng.random(len(labels))
    return (draws[:, None] >= cumulative[labels]).sum(axis=1).astype(np.int64)


def _check(labels: np.ndarray, matrix: np.ndarray) -> None:
    n_classes = len(matrix)
    if matrix.shape != (n_classes, n_classes) or not np.all(matrix >= 0) or not np.allclose(matrix.sum(1), 1):
        raise WarlabError(
            "A transition matrix must be square, non-negative and have rows that sum to 1; correct the noise."
        )
    if labels.ndim != 1 or labels.dtype.kind not in "iu":
        raise WarlabError(f"Labels must be one row of integers, not {labels.dtype} of shape {labels.shape}.")
    if len(labels) and not 0 <= labels.min() <= labels.max() < n_classes:
        raise WarlabError(
            f"Labels must lie in 0..{n_classes - 1}, found {labels.min()}..{labels.max()}; check the data."
        )


def realised_transition(clean: np.ndarray, noisy: np.ndarray, n_classes: int) -> np.ndarray:
    """Row i: which fraction of class i has which label now (zeros for a class without samples)."""
    counts = np.zeros((n_classes, n_classes))
    np.add.at(counts, (clean, noisy), 1)
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
