"""Training images as a method sees them, where open-set noise put others in their places."""

from pathlib import Path
from typing import Any

import numpy as np

from warlab.common.files import digest, read_arrays, read_json
from warlab.errors import WarlabError


def replace_images(images: np.ndarray, noise: dict[str, np.ndarray], source: np.ndarray, said: Any) -> np.ndarray:
    """The training images as a method sees them; `said` is what the manifest says of the replacement."""
    if digest(source) != said["source_sha256"] or digest(noise["by"]) != said["by_sha256"]:
        raise WarlabError("The open-set noise was made from other images: delete the noise file and run again.")
    images = images.copy()
    images[noise["replaced"]] = source[noise["by"]]
    return images


def noisy_vectors(vectors: Path, noise: Path, source: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Features of the training images as a method sees them, and labels; `source` has those of images put in place of
    others."""
    found, arrays = read_arrays(vectors)["features"], read_arrays(noise)
    if len(found) != len(arrays["labels"]):
        raise WarlabError(f"{vectors} has {len(found)} images and {noise} {len(arrays['labels'])}; delete both.")
    if source is not None:
        found[arrays["replaced"]] = read_arrays(Path(source))["features"][arrays["by"]]
    return found, arrays["labels"]


def noisy_images(data: Path, noise: Path, source: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Training images and labels as a method sees them."""
    images, arrays = read_arrays(data)["train_x"], read_arrays(noise)
    if source is not None:
        said = read_json(noise.with_suffix(".json"))["open_set"]
        images = replace_images(images, arrays, read_arrays(Path(source))["train_x"], said)
    return images, arrays["labels"]
