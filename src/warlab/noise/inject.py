"""Noisy labels and their manifest.

Every sample is drawn by itself, so that counts are random and not exact fractions, as in the generator of
Patrini et al. (2017), which the authors' code uses.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from warlab.common.files import digest
from warlab.common.seeds import derive_seed
from warlab.errors import WarlabError
from warlab.noise import parse, transition_matrix


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


def noise_seed(dataset: str, noise: str, seed: int) -> int:
    """Never depends on the method, so that all methods of a cell see the same noisy labels."""
    return derive_seed("noise", dataset, noise, seed)


def noisy_labels(
    clean: np.ndarray, *, dataset: str, noise: str, seed: int, class_names: Sequence[str], data: str
) -> tuple[np.ndarray, dict[str, Any]]:
    """The noisy labels of one (data set, noise, seed) and their manifest; `data` is real or stand-in."""
    matrix = transition_matrix(*parse(noise), dataset, len(class_names))
    rng = np.random.default_rng(noise_seed(dataset, noise, seed))
    noisy = corrupt(clean, matrix, rng)
    manifest = make_manifest(
        clean, noisy, matrix, dataset=dataset, noise=noise, seed=seed, class_names=class_names, data=data
    )
    return noisy, manifest


def make_manifest(
    clean: np.ndarray,
    noisy: np.ndarray,
    matrix: np.ndarray,
    *,
    dataset: str,
    noise: str,
    seed: int,
    class_names: Sequence[str],
    data: str,
) -> dict[str, Any]:
    kind, rate = parse(noise)
    return {
        "dataset": dataset,
        "noise": noise,
        "kind": kind,
        "rate": rate,
        "seed": seed,
        "rng_seed": noise_seed(dataset, noise, seed),
        "realised_rate": float(np.mean(clean != noisy)),
        "transition": matrix.tolist(),
        "realised_transition": realised_transition(clean, noisy, len(matrix)).tolist(),
        "labels_sha256": digest(noisy),
        "clean_sha256": digest(clean),
        "class_names": list(class_names),
        "data": data,
    }


def realised_transition(clean: np.ndarray, noisy: np.ndarray, n_classes: int) -> np.ndarray:
    """Row i: which fraction of class i has which label now (zeros for a class without samples)."""
    counts = np.zeros((n_classes, n_classes))
    np.add.at(counts, (clean, noisy), 1)
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
