"""The noise of one dataset, noise and seed, made by its kind."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from warlab.artefacts.noise_manifest import NoisyLabels
from warlab.noise import kind_of
from warlab.noise.kinds.base import NoiseRequest


def make_noise(request: NoiseRequest, data: Mapping[str, np.ndarray], files: Mapping[str, Path]) -> NoisyLabels:
    """`data` are the arrays of the data; `files` are those that `warlab.noise.needs` asks for."""
    return kind_of(request.noise).make(request, data, files)
