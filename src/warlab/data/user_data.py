"""Data that stay where the user has them, and the user's own images, which say themselves what classes they have."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from warlab.artefacts.prepared_data import PreparedData
from warlab.common.files import digest, read_json, write_json
from warlab.data.base import Dataset, DataSpec, Resource
from warlab.data.images import Arrays, prepare_images, validate
from warlab.errors import WarlabError

POINTER = "place.json"
CLASSES = "classes.txt"
HELD_OUT = 5  # where there is no test part, every fifth image of a class is for the test


@dataclass(frozen=True, kw_only=True)
class InPlace(Dataset):
    """A dataset that is not copied; `needs` are the files that its owners give out on request."""

    needs: tuple[str, ...] = ()

    def point(self, root: Path, local: Path | None) -> str:
        """Remember where the data are."""
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
        write_json(root / POINTER, {"place": str(local.resolve()), "listing": state(self, local) or ""})
        return str(local)

    def _gated(self, local: Path | None) -> WarlabError:
        there = f" ({local}, which local_data names, is not there)" if local else ""
        return WarlabError(
            f"{self.title} is given out by its owners only{there}: ask for it at {self.homepage}, put "
            f"{', '.join(self.needs)} into one folder and write local_data: {{{self.name}: folder}} in the settings, "
            f"or leave {self.name} out of the scale."
        )

    def watched(self, local: Path) -> Iterable[Path]:
        """The user's files are few. Of a million images only the owners' lists are looked at."""
        if self.needs:
            return [local / name for name in self.needs]
        return [local, local.parent / CLASSES] if local.is_file() else local.rglob("*")


def place(root: Path) -> Path:
    return root / read_json(root / POINTER)["place"]


def state(resource: Resource, local: Path | None) -> str | None:
    """Changes when a file is added, removed, renamed or written again; the workflow then reads the data again.

    None for what is copied and checked when it is fetched, and where nothing is there.
    """
    if local is None or not local.exists() or not isinstance(resource, InPlace):
        return None
    files = sorted(path for path in resource.watched(local) if path.is_file())
    states = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    return digest(repr(states).encode())


@dataclass(frozen=True)
class UserData:
    """Arrays and the names of their classes, each with the words that are looked up among word vectors for it; `files`
    say where the user finds each training image again."""

    arrays: Arrays
    classes: Mapping[str, str]
    files: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class UserImages(InPlace):
    """Images of the user's own; `read` takes a folder and the size that images are cut to. Classes, mean and deviation
    are known when the data are read."""

    sentences: ClassVar[Mapping[str, str]] = {**Dataset.sentences, "real": "the user's own data"}
    resizes: ClassVar[bool] = True

    read: Callable[[Path, int | None], UserData]
    class_names: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()
    licence: str = "the user's"
    homepage: str = "docs/your-own-data.md"
    shape: tuple[int, int, int] = (3, 32, 32)
    images: tuple[int, int] = (0, 0)

    def prepare(self, root: Path, spec: DataSpec, threads: int) -> PreparedData:
        own = self.read(root, spec.size)
        validate(own.arrays, len(own.classes))
        return prepare_images(described(self, own), own.arrays, spec, own.files)


def described(dataset: "UserImages", own: UserData) -> "UserImages":
    """The dataset with the classes that were found and the mean and deviation of its training images."""
    odd = next((name for name in own.classes if not name.isprintable()), None)
    if odd is not None:
        raise WarlabError(f"The class name {odd!r} has characters that cannot be printed; rename the class.")
    pixels = own.arrays.train_x / np.float32(255)
    return replace(
        dataset,
        class_names=tuple(own.classes),
        words=tuple(own.classes.values()),
        mean=tuple(float(value) for value in pixels.mean(axis=(0, 2, 3), dtype=np.float64)),
        std=tuple(max(float(value), 1e-3) for value in pixels.std(axis=(0, 2, 3), dtype=np.float64)),
    )


def listed_classes(folder: Path) -> dict[str, str] | None:
    """Names and words of classes.txt: a line per class in the order of the labels, `name` or `name: words`."""
    file = folder / CLASSES
    if not file.is_file():
        return None
    try:
        lines = [line.strip() for line in file.read_text().splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise WarlabError(f"{file} cannot be read as text ({error}); save it as UTF-8.") from error
    pairs = [line.partition(":") for line in lines]
    classes = {name.strip(): (words or name).strip() for name, _, words in pairs}
    if len(classes) < max(len(lines), 2):
        raise WarlabError(f"{file} must name at least two classes, each once, one per line.")
    return classes


def hold_out(x: np.ndarray, y: np.ndarray) -> tuple[Arrays, np.ndarray]:
    """Every fifth image of each class, the first of them included, is for the test. Also the numbers of the others."""
    test = np.zeros(len(y), bool)
    for label in np.unique(y):
        test[np.flatnonzero(y == label)[::HELD_OUT]] = True
    return Arrays(x[~test], y[~test], x[test], y[test]), np.flatnonzero(~test)
