"""Open-set noise: images that belong to no class take the place of others, whose labels stay.

The paper replaces 40 % of the training images and says neither which nor by which. Here it is the same share of
every class, drawn by the noise's seed, and no image of the source comes twice.
"""

from pathlib import Path
from typing import Any

import numpy as np

from warlab.errors import WarlabError
from warlab.files import digest, read_arrays, read_json


def replacements(labels: np.ndarray, rate: float, available: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """`replaced`: the numbers of images to replace; `by`: those of the source's images in their places."""
    members = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    replaced = np.sort(np.concatenate([rng.permutation(own)[: round(rate * len(own))] for own in members]))
    if len(replaced) > available:
        raise WarlabError(
            f"Open-set noise needs {len(replaced)} distinct images, its source has {available}; take more of the "
            "source, or a lower rate."
        )
    return {"replaced": replaced, "by": rng.permutation(available)[: len(replaced)]}


def describe(chosen: dict[str, np.ndarray], labels: np.ndarray, source: str, images: np.ndarray) -> dict[str, Any]:
    """What the manifest says of them; the numbers themselves stand beside the labels."""
    return {
        "source": source,
        "source_sha256": digest(images),
        "images": len(chosen["replaced"]),
        "images_per_class": np.bincount(labels[chosen["replaced"]], minlength=labels.max() + 1).tolist(),
        "replaced_sha256": digest(chosen["replaced"]),
        "by_sha256": digest(chosen["by"]),
    }


def replace_images(images: np.ndarray, noise: dict[str, np.ndarray], source: np.ndarray, said: Any) -> np.ndarray:
    """The training images as a method sees them; `said` is what the manifest says of the replacement."""
    if digest(source) != said["source_sha256"] or digest(noise["by"]) != said["by_sha256"]:
        raise WarlabError("The open-set noise was made from other images: delete the noise file and run again.")
    images = images.copy()
    images[noise["replaced"]] = source[noise["by"]]
    return images


def check_shapes(images: tuple[int, ...], source: tuple[int, ...], name: str) -> None:
    if images[1:] != source[1:]:
        raise WarlabError(
            f"Images of {name} are {source[1:]} at this scale and cannot replace those of {images[1:]}; "
            "give both the same pool."
        )


def noisy_images(data: Path, noise: Path, source: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Training images and labels as a method sees them."""
    images, arrays = read_arrays(data)["train_x"], read_arrays(noise)
    if source is not None:
        said = read_json(noise.with_suffix(".json"))["open_set"]
        images = replace_images(images, arrays, read_arrays(Path(source))["train_x"], said)
    return images, arrays["labels"]
