"""Labels drawn from a transition matrix, whose row i holds the probabilities that label i becomes j.

The kinds clean, sym, pairflip, asym and asym_code share it. Every sample is drawn by itself, so that counts are random
and not exact fractions, as in the generator of Patrini et al. (2017), which the authors' code uses.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from warlab import data as datasets
from warlab.artefacts.labelled_data import NoisyLabels
from warlab.errors import WarlabError
from warlab.ids import NoiseId
from warlab.noise.kinds.base import DataArrays, Files, NoiseKind, NoiseRequest


@dataclass(frozen=True)
class MatrixNoise(NoiseKind):
    """`matrix` makes the transition matrix from a rate, a dataset and the number of its classes."""

    matrix: Callable[[float, str, int], np.ndarray] = field(kw_only=True)

    def make(self, request: NoiseRequest, data: DataArrays, files: Files) -> NoisyLabels:
        rate, clean = self.rate(request.id), data["train_y"]
        matrix = self.matrix(rate, request.dataset, len(request.class_names))
        return self.noisy(request, clean, corrupt(clean, matrix, request.rng()), matrix)


class SimilarClasses(MatrixNoise):
    """Flips between similar classes, which are named in the file of each dataset."""

    def __init__(self, name: str, words: str) -> None:
        super().__init__({name: words}, matrix=self._matrix)

    def check(self, noise: NoiseId, dataset: str) -> None:
        if not self._defined(dataset):
            known = [name for name in datasets.names() if self._defined(name)]
            raise WarlabError(
                f"{noise.kind} noise is not defined for {dataset}, only for {', '.join(known)}; use sym, "
                "pairflip or a file."
            )

    def _defined(self, dataset: str) -> bool:
        return dataset in datasets.names() and next(iter(self.names)) in datasets.get(dataset).classes.flips

    def _matrix(self, rate: float, dataset: str, n_classes: int) -> np.ndarray:
        """Each class of `flips` leaves with probability `rate`, split over its targets; other classes stay."""
        (name,) = self.names
        self.check(NoiseId(name), dataset)
        known = datasets.get(dataset).classes
        if n_classes != len(known.names):
            raise WarlabError(f"{name} noise of {dataset} needs its {len(known.names)} classes, not {n_classes}.")
        matrix, number = np.eye(n_classes), {label: k for k, label in enumerate(known.names)}
        for source, targets in known.flips[name].items():
            matrix[number[source], number[source]] = 1 - rate
            for target, share in targets.items():
                matrix[number[source], number[target]] = rate * share
        return matrix


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
        raise WarlabError(f"Labels must be a vector of integers, not {labels.dtype} of shape {labels.shape}.")
    if len(labels) and not 0 <= labels.min() <= labels.max() < n_classes:
        raise WarlabError(
            f"Labels must lie in 0..{n_classes - 1}, found {labels.min()}..{labels.max()}; check the data."
        )
