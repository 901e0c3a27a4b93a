"""Labels drawn from a transition matrix: symmetric noise, pair flips, and flips between similar classes.

Row i of the matrix holds the probabilities that label i becomes j. Every sample is drawn by itself, so counts are
random and not exact fractions, as in the generator of Patrini et al. (2017), which the authors' code uses.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from warlab import data as datasets
from warlab.artefacts.labelled_data import NoisyLabels
from warlab.data.base import Flips
from warlab.errors import WarlabError
from warlab.ids import NoiseId
from warlab.noise.kinds.base import DataArrays, Files, NoiseKind, NoiseRequest

Matrix = Callable[[float, str, int], np.ndarray]  # rate, dataset, number of classes → transition matrix (C, C)


@dataclass(frozen=True)
class MatrixNoise(NoiseKind):
    """`matrices` has a function for every name that makes its transition matrix."""

    matrices: Mapping[str, Matrix] = field(kw_only=True)

    def check(self, noise: NoiseId, dataset: str) -> None:
        """Refuse flips between similar classes unless the file of the dataset names them."""
        if noise.kind in SIMILAR and (dataset not in datasets.names() or noise.kind not in _flips(dataset)):
            known = [name for name in datasets.names() if noise.kind in _flips(name)]
            raise WarlabError(
                f"{noise.kind} noise is not defined for {dataset}, only for {', '.join(known)}; use sym, "
                "pairflip or a file."
            )

    def make(self, request: NoiseRequest, data: DataArrays, files: Files) -> NoisyLabels:
        self.check(request.id, request.dataset)
        rate, clean = self.rate(request.id), data["train_y"]
        matrix = self.matrices[request.id.kind](rate, request.dataset, len(request.class_names))
        return self.noisy(request, clean, corrupt(clean, matrix, request.rng()), matrix)


def _flips(dataset: str) -> Mapping[str, Flips]:
    return datasets.get(dataset).classes.flips


def symmetric(rate: float, dataset: str, n_classes: int) -> np.ndarray:
    """Every other class has the probability rate / (C - 1)."""
    matrix = np.full((n_classes, n_classes), rate / (n_classes - 1))
    np.fill_diagonal(matrix, 1 - rate)
    return matrix


def pair_flips(rate: float, dataset: str, n_classes: int) -> np.ndarray:
    """Class i becomes i + 1, the last becomes the first (Han et al., 2018)."""
    return (1 - rate) * np.eye(n_classes) + rate * np.roll(np.eye(n_classes), 1, axis=1)


def similar_classes(name: str, rate: float, dataset: str, n_classes: int) -> np.ndarray:
    """Each class of `flips` leaves with probability `rate`, split over its targets; other classes stay."""
    KIND.check(NoiseId(name), dataset)
    known = datasets.get(dataset).classes
    if n_classes != len(known.names):
        raise WarlabError(f"{name} noise of {dataset} needs its {len(known.names)} classes, not {n_classes}.")
    matrix, number = np.eye(n_classes), {label: k for k, label in enumerate(known.names)}
    for source, targets in _flips(dataset)[name].items():
        matrix[number[source], number[source]] = 1 - rate
        for target, share in targets.items():
            matrix[number[source], number[target]] = rate * share
    return matrix


def corrupt(labels: np.ndarray, matrix: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Replace each label i by a draw from row i of `matrix`; one random number per sample."""
    n_classes = len(matrix)
    if matrix.shape != (n_classes, n_classes) or not np.all(matrix >= 0) or not np.allclose(matrix.sum(1), 1):
        raise WarlabError(
            "A transition matrix must be square, non-negative and have rows that sum to 1; fix the noise."
        )
    if labels.ndim != 1 or labels.dtype.kind not in "iu":
        raise WarlabError(f"Labels must be a vector of integers, not {labels.dtype} of shape {labels.shape}.")
    if len(labels) and not 0 <= labels.min() <= labels.max() < n_classes:
        raise WarlabError(
            f"Labels must lie in 0..{n_classes - 1}, found {labels.min()}..{labels.max()}; check the data."
        )
    cumulative = np.cumsum(matrix, axis=1)
    # Exactly 1 from the last possible class on, so that rounding never selects an impossible one.
    cumulative /= cumulative[:, -1:]
    draws, noisy = rng.random(len(labels)), np.empty(len(labels), np.int64)
    for label in np.unique(labels):  # all at once would need a number per sample and class
        members = labels == label
        noisy[members] = np.searchsorted(cumulative[label], draws[members], side="right")
    return noisy


# as the paper defines them, and as the authors' code draws them where it differs
SIMILAR = {"asym": "asymmetric", "asym_code": "asymmetric (authors' code)"}
KIND = MatrixNoise(
    {"sym": "symmetric", "pairflip": "pairflip"} | SIMILAR,
    matrices={"sym": symmetric, "pairflip": pair_flips} | {name: partial(similar_classes, name) for name in SIMILAR},
)
