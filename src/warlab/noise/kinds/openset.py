"""Open-set noise: images that belong to no class take the place of others, whose labels stay.

The paper replaces 40 % of the training images and says neither which nor by which. Here it is the same share of
every class, drawn by the noise's seed, and no image of the source comes twice.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from warlab import data as datasets
from warlab.artefacts.noise_manifest import NoisyLabels, OpenSet
from warlab.artefacts.prepared_data import PreparedData
from warlab.common.files import digest
from warlab.errors import WarlabError
from warlab.ids import NoiseId
from warlab.noise.kinds.base import NoiseKind, NoiseRequest

# noise → the dataset whose images take the place of others
SOURCES = {"openset_svhn": "svhn", "openset_imagenet32": "imagenet32"}


class OpenSetImages(NoiseKind):
    def needs(self, noise: NoiseId) -> dict[str, str]:
        return {"images": SOURCES[noise.kind]}

    def check(self, noise: NoiseId, dataset: str) -> None:
        if datasets.get(dataset).samples != "images":
            raise WarlabError(
                f"The noise {noise} replaces images in memory, and {dataset} has none; choose another noise."
            )

    def make(self, request: NoiseRequest, data: Mapping[str, np.ndarray], files: Mapping[str, Path]) -> NoisyLabels:
        """Labels stay; the numbers of the replaced images and of those that replace them are saved with them."""
        source = PreparedData.load(files["images"])
        name, images = source.about.dataset, source.arrays["train_x"]
        if source.about.data != request.data:
            raise WarlabError(
                f"{request.dataset} is {request.data} and {name} is {source.about.data}; take the same sort of both."
            )
        check_shapes(data["train_x"].shape, images.shape, name)
        clean = data["train_y"]
        chosen = replacements(clean, NoiseId.parse(request.noise).rate, len(images), request.rng())
        rate, about = len(chosen["replaced"]) / len(clean), describe(chosen, clean, name, images)
        noisy = self.noisy(request, clean, clean, np.eye(len(request.class_names)), realised_rate=rate, open_set=about)
        return replace(noisy, replaced=chosen["replaced"], by=chosen["by"])


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


def describe(chosen: dict[str, np.ndarray], labels: np.ndarray, source: str, images: np.ndarray) -> OpenSet:
    """What the manifest says of them."""
    return OpenSet(
        source=source,
        source_sha256=digest(images),
        images=len(chosen["replaced"]),
        images_per_class=np.bincount(labels[chosen["replaced"]], minlength=labels.max() + 1).tolist(),
        replaced_sha256=digest(chosen["replaced"]),
        by_sha256=digest(chosen["by"]),
    )


def check_shapes(images: tuple[int, ...], source: tuple[int, ...], name: str) -> None:
    if images[1:] != source[1:]:
        raise WarlabError(
            f"Images of {name} are {source[1:]} at this scale and cannot replace those of {images[1:]}; "
            "give both the same pool."
        )


KIND = OpenSetImages({"openset_svhn": "SVHN images (open set)", "openset_imagenet32": "ImageNet32 images (open set)"})
