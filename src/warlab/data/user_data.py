"""Data that stay where the user has them, and the user's own images, whose classes are found when they are read."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from warlab.artefacts.labelled_data import PreparedData
from warlab.common.files import digest, read_json, write_json
from warlab.data.base import Classes, Dataset, DataSpec, Pixels, Resource
from warlab.data.images_in_memory import Arrays, prepare_images, validate
from warlab.errors import WarlabError

POINTER = "place.json"
CLASSES = "classes.txt"
HELD_OUT = 5  # without a test part, every fifth image of a class is for the test


@dataclass(frozen=True, kw_only=True)
class InPlace(Dataset):
    """A dataset that is not copied; `needs` are the files that its owners give out on request."""

    needs: tuple[str, ...] = ()

    def point(self, root: Path, local: Path | None) -> str:
        """Store where the data are."""
        if self.needs and (local is None or not local.exists()):
            raise self._gated(local)
        if local is None:
            raise WarlabError(f"{self.title} need a place: write local_data: {{{self.name}: path}} in the settings.")
        if not local.exists():
            raise WarlabError(f"There is no {local}, which local_data names for {self.name}; correct the path.")
        if missing := [name for name in self.needs if not (local / name).exists()]:
            raise WarlabError(
                f"{local} has no {missing[0]}, which the owners' folder of {self.title} has; complete it."
            )
        write_pointer(root, str(local.resolve()), state(self, local) or "")
        return str(local)

    def _gated(self, local: Path | None) -> WarlabError:
        absent = f" ({local}, which local_data names, is not there)" if local else ""
        return WarlabError(
            f"{self.title} is given out by its owners only{absent}: ask for it at {self.homepage}, put "
            f"{', '.join(self.needs)} into one folder and write local_data: {{{self.name}: folder}} in the settings, "
            f"or leave {self.name} out of the scale."
        )

    def watched(self, local: Path) -> Iterable[Path]:
        """The files whose changes are noticed: all of the user's, but of a million images only the owners' lists."""
        if self.needs:
            return [local / name for name in self.needs]
        return [local, local.parent / CLASSES] if local.is_file() else local.rglob("*")


def write_pointer(root: Path, place: str, listing: str = "") -> None:
    """Store that the data of `root` are at `place`, which may be relative to it; `listing` is their state."""
    write_json(root / POINTER, {"place": place, "listing": listing})


def place(root: Path) -> Path:
    return root / read_json(root / POINTER)["place"]


def state(resource: Resource, local: Path | None) -> str | None:
    """A checksum that changes when a file is added, removed, renamed or written, so that the data are read again.

    None if there are no data, or if they are copied and checked when they are fetched.
    """
    if local is None or not local.exists() or not isinstance(resource, InPlace):
        return None
    files = sorted(path for path in resource.watched(local) if path.is_file())
    states = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    return digest(repr(states).encode())


@dataclass(frozen=True)
class UserData:
    """Arrays and their classes; `files` say where the user finds each training image."""

    arrays: Arrays
    classes: Classes
    files: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class UserImages(InPlace):
    """The user's own images. `read` takes a folder and the size to which images are cut."""

    sentences: ClassVar[Mapping[str, str]] = {**Dataset.sentences, "real": "the user's own data"}
    resizes: ClassVar[bool] = True

    licence: str = "the user's"
    homepage: str = "docs/your-own-data.md"
    read: Callable[[Path, int | None], UserData]

    def read_part(self, root: Path, spec: DataSpec, threads: int) -> PreparedData:
        data = self.read(root, spec.size)
        validate(data.arrays, len(data.classes.names))
        return prepare_images(described(self, data), data.arrays, spec, data.files)


def described(dataset: UserImages, data: UserData) -> UserImages:
    """The dataset with its classes and the mean and standard deviation of its training images."""
    for name in data.classes.names:
        if not name.isprintable():
            raise WarlabError(f"The class name {name!r} has characters that cannot be printed; rename the class.")
    pixels = data.arrays.train_x / np.float32(255)
    mean = tuple(pixels.mean(axis=(0, 2, 3), dtype=np.float64).tolist())
    std = tuple(np.maximum(pixels.std(axis=(0, 2, 3), dtype=np.float64), 1e-3).tolist())
    return replace(dataset, classes=data.classes, pixels=Pixels(mean=mean, std=std))


def listed_classes(folder: Path) -> Classes | None:
    """The classes of classes.txt: a line for each in the order of the labels, `name` or `name: words`."""
    file = folder / CLASSES
    if not file.is_file():
        return None
    try:
        lines = [line.strip() for line in file.read_text().splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise WarlabError(f"{file} cannot be read as text ({error}); save it as UTF-8.") from error
    pairs = [line.partition(":") for line in lines]
    names = tuple(name.strip() for name, _, _ in pairs)
    if len(set(names)) < max(len(lines), 2):
        raise WarlabError(f"{file} must name at least two classes, each once, one per line.")
    return Classes(names, tuple((words or name).strip() for name, _, words in pairs))


def hold_out(x: np.ndarray, y: np.ndarray) -> tuple[Arrays, np.ndarray]:
    """Use every fifth image of each class, beginning with the first, for the test. Also return the indices of the
    training images."""
    test = np.zeros(len(y), bool)
    for label in np.unique(y):
        test[np.flatnonzero(y == label)[::HELD_OUT]] = True
    return Arrays(x[~test], y[~test], x[test], y[test]), np.flatnonzero(~test)
