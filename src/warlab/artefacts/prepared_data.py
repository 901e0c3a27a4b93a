"""Prepared data: the arrays that everything later reads, in an npz file, and their description, in a JSON file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from warlab.artefacts._json import Description
from warlab.common.files import read_arrays, write_arrays


@dataclass(frozen=True, kw_only=True)
class DataDescription(Description):
    """`data` is real or stand-in, `source` the sentence that says what the data are. `words` are looked up among word
    vectors in place of the class names. `mean` and `std` are of x / 255. `shape` is (channels, height, width)."""

    # Where things are, sentences, what only costs and maps read.
    DECIDES_NOTHING = frozenset({"source", "licence", "shards", "words", "colours", "world", "train_files"})

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
    train_files: list[str] | None = None  # where the user finds each training image
    # of images on disk
    n_val: int | None = None
    shards: str = ""
    shards_sha256: str = ""
    crop: int | None = None
    # of tiles
    scored: dict[str, str] = field(default_factory=dict)  # class → its metric
    colours: list[list[int]] = field(default_factory=list)
    train_tiles: list[str] = field(default_factory=list)
    test_tiles: list[str] = field(default_factory=list)
    world: dict[str, str] = field(default_factory=dict)  # tile → its world file


@dataclass(frozen=True)
class PreparedData:
    """Images have the arrays train_x, train_y, test_x, test_y. Images on disk have numbers (train_i) in place of
    pixels, tiles have flat pixels with their sizes (train_sizes)."""

    about: DataDescription
    arrays: Mapping[str, np.ndarray]

    @classmethod
    def load(cls, path: Path) -> "PreparedData":
        return cls(DataDescription.load(path), read_arrays(Path(path)))

    def save(self, path: Path) -> None:
        write_arrays(Path(path), **self.arrays)
        self.about.save(path)
