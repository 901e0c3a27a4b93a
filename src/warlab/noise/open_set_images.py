"""Training samples as a method sees them, where open-set noise put other images in their places."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from warlab.artefacts.labelled_data import NoisyLabels
from warlab.common.files import digest, read_arrays, read_json
from warlab.errors import WarlabError


def seen_images(images: np.ndarray, noise: NoisyLabels, source: np.ndarray) -> np.ndarray:
    """The images, those of `source` in the places that open-set noise gave them."""
    said = noise.manifest.open_set
    if said is None or noise.by is None or (digest(source), digest(noise.by)) != (said.source_sha256, said.by_sha256):
        raise WarlabError("The open-set noise was made from other images: delete the noise file and run again.")
    return _replaced(images, noise, source)


def _replaced(samples: np.ndarray, noise: NoisyLabels, source: np.ndarray) -> np.ndarray:
    samples = samples.copy()
    samples[noise.replaced] = source[noise.by]
    return samples


def noisy_samples(files: Mapping[str, Path]) -> dict[str, Any]:
    """What a ground cost is made from if it reads labels: noisy `labels`, and `images` or `vectors`, the features of a
    network. `files` has the inputs of a cost by their roles: data, noise, images, features, other_features."""
    if "noise" not in files:
        return {}
    noise = NoisyLabels.load(files["noise"])
    if "features" in files:
        features = {"features": read_json(files["features"].with_suffix(".json"))}
        return {"labels": noise.labels, "vectors": _features(files, noise), **features}
    images = read_arrays(files["data"])["train_x"]
    if "images" in files:
        images = seen_images(images, noise, read_arrays(files["images"])["train_x"])
    return {"labels": noise.labels, "images": images}


def _features(files: Mapping[str, Path], noise: NoisyLabels) -> np.ndarray:
    found = read_arrays(files["features"])["features"]
    if len(found) != len(noise.labels):
        raise WarlabError(
            f"{files['features']} has {len(found)} images and {files['noise']} {len(noise.labels)}; delete both."
        )
    if "other_features" not in files:
        return found
    return _replaced(found, noise, read_arrays(files["other_features"])["features"])
