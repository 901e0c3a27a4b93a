"""Open-set noise: images that belong to no class take the place of others, whose labels stay.

The paper replaces 40 % of the training images and says neither which nor by which. Here it is the same share of
every class, drawn by the noise's seed, and no image of the source comes twice.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from warlab.common.files import digest, read_arrays, read_json
from warlab.errors import WarlabError
from warlab.noise import parse
from warlab.noise.base import Made, Wanted


def make(wanted: Wanted, data: Mapping[str, np.ndarray], files: Mapping[str, Path]) -> Made:
    """Labels stay; the numbers of the replaced images and of those that replace them stand beside the labels."""
    meta, images = read_json(files["images"].with_suffix(".json")), read_arrays(files["images"])["train_x"]
    if meta["data"] != wanted.data:
        raise WarlabError(
            f"{wanted.dataset} is {wanted.data} and {meta['dataset']} is {meta['data']}; take the same sort of both."
        )
    check_shapes(data["train_x"].shape, images.shape, meta["dataset"])
    clean = data["train_y"]
    chosen = replacements(clean, parse(wanted.noise)[1], len(images), wanted.rng())
    manifest = wanted.manifest(clean, clean, np.eye(len(wanted.class_names)))
    manifest["realised_rate"] = len(chosen["replaced"]) / len(clean)
    manifest["open_set"] = describe(chosen, clean, meta["dataset"], images)
    return {"labels": clean, **chosen}, manifest


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


def check_shapes(images: tuple[int, ...], source: tuple[int, ...], name: str) -> None:
    if images[1:] != source[1:]:
        raise WarlabError(
            f"Images of {name} are {source[1:]} at this scale and cannot replace those of {images[1:]}; "
            "give both the same pool."
        )
