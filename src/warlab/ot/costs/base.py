"""The contract of a ground cost: a function `make(inputs, **settings)` that returns the matrix and its origin.

Three constants of its file are read before anything runs: `READS_LABELS = True` if the cost is made from noisy labels,
`NEEDS_ORDER = True` if it is for ordered classes, `USER_FILES` are the settings that name a file of the user.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np

from warlab.artefacts.labelled_data import DataDescription, NoisyLabels
from warlab.common.files import read_arrays, read_json
from warlab.errors import WarlabError


@dataclass(frozen=True)
class CostInputs:
    """What a cost may be computed from; images or vectors, and noisy labels, only if it reads labels."""

    class_names: Sequence[str]
    words: Sequence[str]
    images: np.ndarray | None = None
    labels: np.ndarray | None = None
    vectors: np.ndarray | None = None  # features (N, d) of the images, where a network made them
    ordered: bool = False
    # for the provenance: the dataset, real or stand-in, the id of the cost, and how the features were made
    dataset: str = ""
    data: str = ""
    key: str = ""
    features: Mapping[str, object] | None = None

    @classmethod
    def read(cls, files: Mapping[str, Path], key: str = "") -> Self:
        """Read the input files of a cost, by their roles: data and, if the cost reads labels, noise, images, features
        and other_features."""
        about = DataDescription.load(files["data"])
        inputs = cls(about.class_names, about.words, dataset=about.dataset, data=about.data, key=key)
        inputs = replace(inputs, ordered=about.ordered)
        if "noise" not in files:
            return inputs
        noise = NoisyLabels.load(files["noise"])
        if "features" in files:
            features = read_json(files["features"].with_suffix(".json"))
            return replace(inputs, labels=noise.labels, vectors=_vectors(files, noise), features=features)
        images = read_arrays(files["data"])["train_x"]
        if "images" in files:
            images = noise.replace_images(images, read_arrays(files["images"])["train_x"])
        return replace(inputs, labels=noise.labels, images=images)


def _vectors(files: Mapping[str, Path], noise: NoisyLabels) -> np.ndarray:
    vectors = read_arrays(files["features"])["features"]
    if len(vectors) != len(noise.labels):
        raise WarlabError(
            f"{files['features']} has {len(vectors)} images and {files['noise']} {len(noise.labels)}; delete both."
        )
    if "other_features" not in files:
        return vectors
    return noise.replace(vectors, read_arrays(files["other_features"])["features"])


@dataclass(frozen=True)
class Origin:
    """Where a cost comes from: a sentence, and checksums of the files that were read."""

    source: str
    words: list[str] | None = None
    vectors_sha256: str | None = None
    file_sha256: str | None = None


Made = tuple[np.ndarray, Origin]
