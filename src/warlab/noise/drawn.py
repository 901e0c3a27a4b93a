"""Labels drawn from a transition matrix."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from warlab.noise.base import Made, Wanted
from warlab.noise.inject import noisy_labels


def make(wanted: Wanted, data: Mapping[str, np.ndarray], files: Mapping[str, Path]) -> Made:
    labels, manifest = noisy_labels(data["train_y"], **wanted.names())
    return {"labels": labels}, manifest
