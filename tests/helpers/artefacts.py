"""Small artefacts for the tests, and any artefact as arrays and JSON."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from warlab.artefacts import to_json
from warlab.artefacts.labelled_data import DataDescription, NoisyLabels, PreparedData


def described(class_names: Sequence[str], **changes: Any) -> DataDescription:
    """Describe a stand-in of grey images, 12 × 12."""
    names = list(class_names)
    known = {"dataset": "blobs", "data": "stand-in", "source": "spots", "licence": "none", "shape": [1, 12, 12]}
    numbers = {"mean": [0.5], "std": [0.5], "n_train": 64, "n_test": 40, "sha256": {}}
    return DataDescription(**{**known, **numbers, "class_names": names, "words": names, **changes})


def data_on_disk(prepared: PreparedData) -> tuple[Any, dict[str, Any]]:
    """Return the arrays as attributes, and the description."""
    return SimpleNamespace(**prepared.arrays), to_json(prepared.about)


def noise_on_disk(noise: NoisyLabels) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return the arrays and the manifest."""
    arrays = {name: values for name, values in vars(noise).items() if name != "manifest" and values is not None}
    return arrays, to_json(noise.manifest)
