"""The contract of a kind of noise, what it is asked for, and how the manifest of its labels is made."""

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
from warlab.noise.transition import realised_transition

DataArrays = Mapping[str, np.ndarray]  # of the data: train_y and others
Files = Mapping[str, Path]  # by their roles: what `needs` asks for


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
    def rng_seed(self) -> int:
        """Never depends on the method, so that all methods of a cell see the same noisy labels."""
        return derive_seed("noise", self.dataset, self.noise, self.seed)

    def rng(self) -> np.random.Generator:
        return np.random.default_rng(self.rng_seed)


@dataclass(frozen=True)
class NoiseKind(ABC):
    """`names` are what ids begin with, each with its words in print; a percentage follows if the kind is `rated`."""

    names: Mapping[str, str]
    rated: bool = True

    def has(self, noise: NoiseId) -> bool:
        return noise.kind in self.names and (noise.percent is not None) == self.rated

    def name(self, noise: NoiseId) -> str:
        """The kind as manifests and settings call it."""
        return noise.kind

    def rate(self, noise: NoiseId) -> float:
        """The nominal share of wrong labels."""
        return noise.rate

    def label(self, noise: NoiseId) -> str:
        """What it is called in print."""
        words = self.names[noise.kind]
        return f"{noise.percent} % {words}" if self.rated else words

    def needs(self, noise: NoiseId) -> dict[str, str]:
        """What it reads besides the data, by its role: `human`, `images` or `given`."""
        return {}

    def check(self, noise: NoiseId, dataset: str) -> None:
        """Raise a WarlabError where a dataset cannot have this noise."""
        return

    def settings_of_dataset(self, dataset: str) -> dict[str, object]:
        """What the dataset says of the noise; it joins the settings of the kind."""
        return {}

    @abstractmethod
    def make(self, request: NoiseRequest, data: DataArrays, files: Files) -> NoisyLabels:
        """The noise."""

    def noisy(
        self, request: NoiseRequest, clean: np.ndarray, labels: np.ndarray, matrix: np.ndarray, **more: Any
    ) -> NoisyLabels:
        """Labels with their manifest; `more` are entries of the manifest that the kind knows better."""
        noise = NoiseId.parse(request.noise)
        found = {
            "dataset": request.dataset,
            "noise": request.noise,
            "kind": self.name(noise),
            "rate": self.rate(noise),
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
        return NoisyLabels(NoiseManifest(**(found | more)), labels)

    def as_given(self, request: NoiseRequest, clean: np.ndarray, labels: np.ndarray, **more: Any) -> NoisyLabels:
        """Labels that nobody drew: what they are is also what they are expected to be."""
        matrix = realised_transition(clean, labels, len(request.class_names))
        return self.noisy(request, clean, labels, matrix, **({"rng_seed": None} | more))
