"""Prepared data and noisy labels: arrays in an npz file, and what describes them in a JSON file."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

import numpy as np

from warlab.artefacts import Description
from warlab.common.files import digest, read_arrays, write_arrays
from warlab.errors import WarlabError


@dataclass(frozen=True, kw_only=True)
class DataDescription(Description):
    """`data` is real or stand-in, `source` is what the report says about the data. `words` are looked up among word
    vectors in place of the class names. `mean` and `std` are those of x / 255. `shape` is (channels, height, width).
    Classes that are `ordered` go from low to high."""

    # Places, sentences, and what only costs and maps read.
    DECIDES_NOTHING = frozenset(
        {"source", "licence", "shards", "words", "ordered", "colours", "world", "train_files", "clean_test"}
    )

    dataset: str
    data: str
    source: str
    class_names: list[str]
    words: list[str]
    mean: list[float]
    std: list[float]
    n_train: int
    n_test: int
    shape: list[int]
    sha256: dict[str, str]  # of each array
    licence: str
    samples: str = "images"  # what a sample is; warlab.engine.<samples> trains on them
    ordered: bool = False
    train_files: list[str] | None = None  # where the user finds each training image
    clean_test: bool = True  # False if test labels are as noisy as the training labels that came with the data
    # for images on disk
    n_val: int | None = None
    shards: str = ""
    shards_sha256: str = ""
    crop: int | None = None
    # for tiles
    scored: dict[str, str] = field(default_factory=dict)  # class → its metric
    colours: list[list[int]] = field(default_factory=list)
    train_tiles: list[str] = field(default_factory=list)
    test_tiles: list[str] = field(default_factory=list)
    world: dict[str, str] = field(default_factory=dict)  # tile → its world file


@dataclass(frozen=True)
class PreparedData:
    """Images have the arrays train_x, train_y, test_x, test_y. Images on disk have indices (train_i) in place of
    pixels; tiles have flat pixels and their sizes (train_sizes). Where several people have labelled the training
    samples, train_votes (N, C) says how many of them chose each class."""

    about: DataDescription
    arrays: Mapping[str, np.ndarray]

    @classmethod
    def load(cls, path: Path) -> "PreparedData":
        return cls(DataDescription.load(path), read_arrays(Path(path)))

    def save(self, path: Path) -> None:
        write_arrays(Path(path), **self.arrays)
        self.about.save(path)


@dataclass(frozen=True)
class OpenSet:
    """The images that replaced others; their indices are arrays of `NoisyLabels`."""

    source: str  # dataset
    source_sha256: str
    images: int
    images_per_class: list[int]
    replaced_sha256: str
    by_sha256: str


@dataclass(frozen=True)
class ObjectCounts:
    """How many objects in maps were given another class."""

    objects: int
    changed: int
    realised_share: float
    per_class: dict[str, dict[str, int]]


@dataclass(frozen=True, kw_only=True)
class NoiseManifest(Description):
    """How noisy labels were made. `rate` is the nominal share of wrong labels, `realised_rate` the one that was drawn.
    Rows of `transition` are classes, columns are labels. `data` is real or stand-in."""

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
    estimated: str | None = None  # set if it is unknown which labels are wrong

    @classmethod
    def load(cls, path: Path) -> Self:
        manifest = super().load(path)
        open_set = OpenSet(**manifest.open_set) if isinstance(manifest.open_set, dict) else None
        objects = ObjectCounts(**manifest.objects) if isinstance(manifest.objects, dict) else None
        return replace(manifest, open_set=open_set, objects=objects)


@dataclass(frozen=True)
class NoisyLabels:
    """One label per training sample. With open-set noise, image `by[k]` of another dataset replaces training image
    `replaced[k]`."""

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
        """Return the samples with those of `source` at the places that open-set noise gave them."""
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
        """Refuse labels for other data, and labels that differ from the manifest."""
        if digest(self.labels) != self.manifest.labels_sha256 or digest(clean) != self.manifest.clean_sha256:
            raise WarlabError(
                f"{path} does not belong to the data it is used with (checksums differ): delete it and run again."
            )
