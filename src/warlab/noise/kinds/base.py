"""The contract of a kind of noise, the request that it answers, and the manifest of its labels."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from warlab.artefacts.labelled_data import NoiseManifest, NoisyLabels
from warlab.common.files import digest
from warlab.common.seeds import derive_seed
from warlab.ids import NoiseId

DataArrays = Mapping[str, np.ndarray]  # train_y and the other arrays of the prepared data
Files = Mapping[str, Path]  # the files that `needs` asks for, by their roles


@dataclass(frozen=True)
class NoiseRequest:
    """One noise of one dataset; `data` is real or stand-in, `settings` are the numbers of its kind, if it has any."""

    dataset: str
    noise: str
    seed: int
    class_names: list[str]
    data: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> NoiseId:
        return NoiseId.parse(self.noise)

    @property
    def rng_seed(self) -> int:
        """It never depends on the method, so that all methods of a cell see the same noisy labels."""
        return derive_seed("noise", self.dataset, self.noise, self.seed)

    def rng(self) -> np.random.Generator:
        return np.random.default_rng(self.rng_seed)


@dataclass(frozen=True)
class NoiseKind(ABC):
    """`names` maps the beginning of an id to its label; in the id a percentage follows if the kind is `rated`."""

    names: Mapping[str, str]
    rated: bool = True

    def has(self, noise: NoiseId) -> bool:
        return noise.kind in self.names and (noise.percent is not None) == self.rated

    def name(self, noise: NoiseId) -> str:
        """Return the name of the kind in manifests and settings."""
        return noise.kind

    def rate(self, noise: NoiseId) -> float:
        """Return the nominal share of wrong labels."""
        return noise.rate

    def label(self, noise: NoiseId) -> str:
        """Return the name in tables and figures."""
        words = self.names[noise.kind]
        return f"{noise.percent} % {words}" if self.rated else words

    def needs(self, noise: NoiseId) -> dict[str, str]:
        """What the noise reads besides the data, by its role: `human`, `images` or `given`."""
        return {}

    def check(self, noise: NoiseId, dataset: str) -> None:
        """Raise a WarlabError if a dataset cannot have this noise."""
        return

    def settings_of_dataset(self, dataset: str) -> dict[str, object]:
        """Settings that the dataset itself adds to those of the kind."""
        return {}

    @abstractmethod
    def make(self, request: NoiseRequest, data: DataArrays, files: Files) -> NoisyLabels:
        """Make the noisy labels and their manifest."""

    def noisy(
        self, request: NoiseRequest, clean: np.ndarray, labels: np.ndarray, matrix: np.ndarray, **more: Any
    ) -> NoisyLabels:
        """The labels with their manifest; `more` overrides entries of the manifest."""
        entries = {
            "dataset": request.dataset,
            "noise": request.noise,
            "kind": self.name(request.id),
            "rate": self.rate(request.id),
            "seed": request.seed,
            "rng_seed": request.rng_seed,
            "realised_rate": float(np.mean(clean != labels)),
            "transition": matrix.tolist(),
            "realised_transition": realised_transition(clean, labels, len(matrix)).tolist(),
            "labels_sha256": digest(labels),
            "clean_sha256": digest(clean),
            "class_names": list(request.class_names),
            "data": request.data,
        }
        return NoisyLabels(NoiseManifest(**(entries | more)), labels)

    def as_given(self, request: NoiseRequest, clean: np.ndarray, labels: np.ndarray, **more: Any) -> NoisyLabels:
        """Return labels that were not drawn: their realised transition matrix is also the expected one."""
        matrix = realised_transition(clean, labels, len(request.class_names))
        return self.noisy(request, clean, labels, matrix, **({"rng_seed": None} | more))


def realised_transition(clean: np.ndarray, noisy: np.ndarray, n_classes: int) -> np.ndarray:
    """Row i: the share of class i that has each label (zeros for a class without samples)."""
    counts = np.zeros((n_classes, n_classes))
    np.add.at(counts, (clean, noisy), 1)
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
