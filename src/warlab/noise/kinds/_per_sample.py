"""What noises have in common that give every sample its own probabilities of labels."""

from abc import abstractmethod
from collections.abc import Callable

import numpy as np

from warlab import data as datasets
from warlab.artefacts.labelled_data import NoisyLabels
from warlab.errors import WarlabError
from warlab.ids import NoiseId
from warlab.noise.kinds.base import DataArrays, Files, NoiseKind, NoiseRequest

# the indices of samples of one class, and the class → P(label | sample), (n, C)
Probabilities = Callable[[np.ndarray, int], np.ndarray]


class PerSampleNoise(NoiseKind):
    def check(self, noise: NoiseId, dataset: str) -> None:
        if dataset in datasets.names() and datasets.get(dataset).samples not in ("images", "vectors"):
            raise WarlabError(
                f"The noise {noise} reads samples in memory, and {dataset} has none; choose another noise."
            )

    @abstractmethod
    def probabilities(self, request: NoiseRequest, data: DataArrays, rng: np.random.Generator) -> Probabilities:
        """Return what the labels are drawn from; one class at a time bounds the memory."""

    def make(self, request: NoiseRequest, data: DataArrays, files: Files) -> NoisyLabels:
        self.check(request.id, request.dataset)
        clean, rng = data["train_y"], request.rng()
        probabilities = self.probabilities(request, data, rng)
        draws = rng.random(len(clean))
        labels, matrix = np.empty(len(clean), np.int64), np.eye(len(request.class_names))
        for label in np.unique(clean):
            members = np.flatnonzero(clean == label)
            p = probabilities(members, label)
            cumulative = np.cumsum(p, axis=1)
            # Exactly 1 from the last possible class on, so that rounding never selects an impossible one.
            labels[members] = (draws[members, None] >= cumulative / cumulative[:, -1:]).sum(axis=1)
            matrix[label] = p.mean(axis=0)
        return self.noisy(request, clean, labels, matrix, **self.entries(clean, matrix))

    def entries(self, clean: np.ndarray, matrix: np.ndarray) -> dict[str, object]:
        """Return entries of the manifest that differ from the usual ones."""
        return {}
