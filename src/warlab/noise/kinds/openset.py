"""Open-set noise: images that belong to no class replace others, whose labels stay.

The paper replaces 40 % of the training images and says neither which ones nor by which. Here the same share of every
class is drawn by the seed of the noise, and no image of the source is used twice.
"""

from dataclasses import replace

import numpy as np

from warlab import data as datasets
from warlab.artefacts.labelled_data import NoisyLabels, OpenSet, PreparedData
from warlab.common.files import digest
from warlab.errors import WarlabError
from warlab.ids import NoiseId
from warlab.noise.kinds.base import DataArrays, Files, NoiseKind, NoiseRequest

# noise → the dataset that the new images come from
SOURCES = {"openset_svhn": "svhn", "openset_imagenet32": "imagenet32"}


class OpenSetImages(NoiseKind):
    def needs(self, noise: NoiseId) -> dict[str, str]:
        return {"images": SOURCES[noise.kind]}

    def check(self, noise: NoiseId, dataset: str) -> None:
        if datasets.get(dataset).samples != "images":
            raise WarlabError(
                f"The noise {noise} replaces images in memory, and {dataset} has none; choose another noise."
            )

    def make(self, request: NoiseRequest, data: DataArrays, files: Files) -> NoisyLabels:
        """The labels stay; the indices of the replaced images and of the new ones are saved with them."""
        source = PreparedData.load(files["images"])
        name, images = source.about.dataset, source.arrays["train_x"]
        if source.about.data != request.data:
            raise WarlabError(
                f"{request.dataset} is {request.data} and {name} is {source.about.data}; use the same sort of data for "
                "both."
            )
        clean, expected = data["train_y"], data["train_x"].shape[1:]
        if images.shape[1:] != expected:
            raise WarlabError(
                f"Images of {name} are {images.shape[1:]} at this scale and cannot replace those of {expected}; "
                "give both the same pool."
            )
        chosen = replacements(clean, request.id.rate, len(images), request.rng())
        replaced = chosen["replaced"]
        about = OpenSet(
            source=name,
            source_sha256=digest(images),
            images=len(replaced),
            images_per_class=np.bincount(clean[replaced], minlength=clean.max() + 1).tolist(),
            replaced_sha256=digest(replaced),
            by_sha256=digest(chosen["by"]),
        )
        rate, stay = len(replaced) / len(clean), np.eye(len(request.class_names))
        noisy = self.noisy(request, clean, clean, stay, realised_rate=rate, open_set=about)
        return replace(noisy, replaced=replaced, by=chosen["by"])


def replacements(labels: np.ndarray, rate: float, available: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """`replaced`: the indices of the images to replace; `by`: the indices of the new images in the source."""
    members = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    replaced = np.sort(
        np.concatenate([rng.permutation(of_class)[: round(rate * len(of_class))] for of_class in members])
    )
    if len(replaced) > available:
        raise WarlabError(
            f"Open-set noise needs {len(replaced)} distinct images, its source has {available}; take more of the "
            "source, or lower the rate."
        )
    return {"replaced": replaced, "by": rng.permutation(available)[: len(replaced)]}


KIND = OpenSetImages({"openset_svhn": "SVHN images (open set)", "openset_imagenet32": "ImageNet32 images (open set)"})
