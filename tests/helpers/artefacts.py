"""Artefacts for the tests: small ones, and any of them as what is on disk, arrays and JSON."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from warlab.artefacts import to_json
from warlab.artefacts.labelled_data import DataDescription, NoisyLabels, PreparedData


def described(class_names: Sequence[str], **changes: Any) -> DataDescription:
    """Of grey images of 12 × 12 that stand for others."""
    names = list(class_names)
    known = {"dataset": "blobs", "data": "stand-in", "source": "spots", "licence": "none", "shape": [1, 12, 12]}
    numbers = {"mean": [0.5], "std": [0.5], "n_train": 64, "n_test": 40, "sha256": {}}
    return DataDescription(**{**known, **numbers, "class_names": names, "words": names, **changes})


def data_on_disk(prepared: PreparedData) -> tuple[Any, dict[str, Any]]:
    """Arrays as attributes, and the description."""
    return SimpleNamespace(**prepared.arrays), to_json(prepared.about)


def noise_on_disk(noise: NoisyLabels) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays and the manifest."""
    arrays = {name: values for name, values in vars(noise).items() if name != "manifest" and values is not None}
    return arrays, to_json(noise.manifest)
