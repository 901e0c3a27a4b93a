"""Labels drawn from a transition matrix: what the kinds clean, sym, pairflip, asym and asym_code share."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from warlab import data as datasets
from warlab.artefacts.labelled_data import NoisyLabels
from warlab.errors import WarlabError
from warlab.ids import NoiseId
from warlab.noise.kinds.base import DataArrays, Files, NoiseKind, NoiseRequest
from warlab.noise.transition import corrupt


@dataclass(frozen=True)
class MatrixNoise(NoiseKind):
    """`matrix` takes a rate, a dataset and the number of its classes."""

    matrix: Callable[[float, str, int], np.ndarray] = field(kw_only=True)

    def make(self, request: NoiseRequest, data: DataArrays, files: Files) -> NoisyLabels:
        rate, clean = self.rate(NoiseId.parse(request.noise)), data["train_y"]
        matrix = self.matrix(rate, request.dataset, len(request.class_names))
        return self.noisy(request, clean, corrupt(clean, matrix, request.rng()), matrix)


class SimilarClasses(MatrixNoise):
    """Flips between similar classes, which the file of each dataset names."""

    def __init__(self, name: str, words: str) -> None:
        super().__init__({name: words}, matrix=self._matrix)

    def check(self, noise: NoiseId, dataset: str) -> None:
        if not self._defined(dataset):
            known = [name for name in datasets.names() if self._defined(name)]
            raise WarlabError(
                f"{noise.kind} noise is not defined for {dataset}, only for {', '.join(known)}; take sym, "
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
