"""The contract of a ground cost: a function `make(inputs, **settings)` that returns the matrix and its origin.

Two constants of its file are read before anything runs: `READS_LABELS = True` if the cost is made from noisy labels,
`USER_FILES` are the settings that name a file of the user's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class CostInputs:
    """What a cost may be computed from; images or features, and noisy labels, only if it reads labels."""

    class_names: Sequence[str]
    words: Sequence[str]
    images: np.ndarray | None = None
    labels: np.ndarray | None = None
    vectors: np.ndarray | None = None  # features (N, d) of the images, where a network made them
    # for the provenance: the dataset, real or stand-in, the id of the cost, and how the features were made
    dataset: str = ""
    data: str = ""
    key: str = ""
    features: Mapping[str, object] | None = None


@dataclass(frozen=True)
class Origin:
    """A sentence, and checksums of the files that were read."""

    source: str
    words: list[str] | None = None
    vectors_sha256: str | None = None
    file_sha256: str | None = None


Made = tuple[np.ndarray, Origin]
