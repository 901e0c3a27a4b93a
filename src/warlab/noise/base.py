"""What every sort of noise is asked for, and what it gives."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from warlab.noise.inject import make_manifest, noise_seed, realised_transition

# arrays, of which `labels` is one, and the manifest
Made = tuple[dict[str, np.ndarray], dict[str, Any]]


@dataclass(frozen=True)
class Wanted:
    """One noise of one data set; `data` is real or stand-in, `settings` are the numbers of its kind, if it has any."""

    dataset: str
    noise: str
    seed: int
    class_names: list[str]
    data: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    def names(self) -> dict[str, Any]:
        """What the manifest says of it."""
        return {name: value for name, value in vars(self).items() if name != "settings"}

    def rng(self) -> np.random.Generator:
        return np.random.default_rng(noise_seed(self.dataset, self.noise, self.seed))

    def manifest(self, clean: np.ndarray, labels: np.ndarray, matrix: np.ndarray) -> dict[str, Any]:
        return make_manifest(clean, labels, matrix, **self.names())

    def given(self, clean: np.ndarray, labels: np.ndarray) -> dict[str, Any]:
        """The manifest of labels that nobody drew: what they are is also what they are expected to be."""
        matrix = realised_transition(clean, labels, len(self.class_names))
        return self.manifest(clean, labels, matrix) | {"rng_seed": None}
