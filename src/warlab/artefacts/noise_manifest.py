"""Noisy labels, in an npz file, and the manifest that says how they were made, in a JSON file."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np

from warlab.artefacts._json import Description
from warlab.common.files import digest, read_arrays, write_arrays
from warlab.errors import WarlabError


@dataclass(frozen=True)
class OpenSet:
    """Which images were put in place of others; their numbers are arrays of `NoisyLabels`."""

    source: str  # dataset
    source_sha256: str
    images: int
    images_per_class: list[int]
    replaced_sha256: str
    by_sha256: str


@dataclass(frozen=True)
class ObjectCounts:
    """How many objects of maps were given another class."""

    objects: int
    changed: int
    realised_share: float
    per_class: dict[str, dict[str, int]]


@dataclass(frozen=True, kw_only=True)
class NoiseManifest(Description):
    """`rate` is the nominal share of wrong labels, `realised_rate` the one that was drawn; `transition` has the class
    in its rows and the label in its columns. `data` is real or stand-in."""

    DECIDES_NOTHING = frozenset({"file", "file_sha256", "estimated"})  # the name of a file, a sentence

    dataset: str
    noise: str
    kind: str
    rate: float
    seed: int
    rng_seed: int | None  # None where nothing was drawn
    realised_rate: float
    transition: list[list[float]]
    realised_transition: list[list[float]]
    labels_sha256: str
    clean_sha256: str
    class_names: list[str]
    data: str
    open_set: OpenSet | None = None
    objects: ObjectCounts | None = None
    file: str | None = None  # the user's file, and its checksum
    file_sha256: str | None = None
    estimated: str | None = None  # set where nobody knows which labels are wrong

    @classmethod
    def load(cls, path: Path) -> Self:
        found = super().load(path)
        open_set = OpenSet(**found.open_set) if isinstance(found.open_set, dict) else None
        objects = ObjectCounts(**found.objects) if isinstance(found.objects, dict) else None
        return replace(found, open_set=open_set, objects=objects)


@dataclass(frozen=True)
class NoisyLabels:
    """One label per training sample. With open-set noise, image `by[k]` of another dataset is in the place of training
    image `replaced[k]`."""

    manifest: NoiseManifest
    labels: np.ndarray
    replaced: np.ndarray | None = None
    by: np.ndarray | None = None

    @classmethod
    def load(cls, path: Path) -> "NoisyLabels":
        return cls(NoiseManifest.load(path), **read_arrays(Path(path)))

    def save(self, path: Path) -> None:
        arrays = {"labels": self.labels, "replaced": self.replaced, "by": self.by}
        write_arrays(Path(path), **{name: values for name, values in arrays.items() if values is not None})
        self.manifest.save(path)

    def replace(self, samples: np.ndarray, source: np.ndarray) -> np.ndarray:
        """The samples of the training images, with those of `source` in the places that open-set noise gave them."""
        samples = samples.copy()
        samples[self.replaced] = source[self.by]
        return samples

    def replace_images(self, images: np.ndarray, source: np.ndarray) -> np.ndarray:
        """`replace` for the images themselves, which must be those that the noise was made from."""
        known = self.manifest.open_set
        checksums = known and (known.source_sha256, known.by_sha256)
        if self.by is None or (digest(source), digest(self.by)) != checksums:
            raise WarlabError("The open-set noise was made from other images: delete the noise file and run again.")
        return self.replace(images, source)

    def check(self, clean: np.ndarray, path: Path) -> None:
        """Refuse labels of other data, or labels that are not those of the manifest."""
        if digest(self.labels) != self.manifest.labels_sha256 or digest(clean) != self.manifest.clean_sha256:
            raise WarlabError(
                f"{path} does not belong to the data it is used with (checksums differ): delete it and run again."
            )
