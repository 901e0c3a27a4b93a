"""What the user's own data sets share: they stay where they are, and say themselves which classes they have."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from warlab.common.files import digest, read_json, write_json
from warlab.data.base import Arrays, Dataset, Resource
from warlab.errors import WarlabError

POINTER = "place.json"
CLASSES = "classes.txt"
HELD_OUT = 5  # without a test part of its own, every fifth image of a class is for the test


@dataclass(frozen=True)
class Own:
    """Arrays and the names of their classes; `words` are looked up among word vectors in place of the names, `files`
    say where the user finds each training image again."""

    arrays: Arrays
    names: tuple[str, ...]
    words: tuple[str, ...]
    files: tuple[str, ...] = ()


def point(dataset: Dataset, root: Path, local: Path | None) -> str:
    """Remember where the data are; they are not copied."""
    if dataset.needs and (local is None or not local.exists()):
        raise _gated(dataset, local)
    if local is None:
        raise WarlabError(f"{dataset.title} need a place: write local_data: {{{dataset.name}: path}} in the settings.")
    if not local.exists():
        raise WarlabError(f"There is no {local}, which local_data names for {dataset.name}; correct the path.")
    if missing := [name for name in dataset.needs if not (local / name).exists()]:
        raise WarlabError(f"{local} has no {missing[0]}, which the owners' folder of {dataset.title} has; complete it.")
    write_json(root / POINTER, {"place": str(local.resolve()), "listing": state(dataset, local) or ""})
    return str(local)


def _gated(dataset: Dataset, local: Path | None) -> WarlabError:
    there = f" ({local}, which local_data names, is not there)" if local else ""
    return WarlabError(
        f"{dataset.title} is given out by its owners only{there}: ask for it at {dataset.homepage}, put "
        f"{', '.join(dataset.needs)} into one folder and write local_data: {{{dataset.name}: folder}} in the settings, "
        f"or leave {dataset.name} out of the scale."
    )


def place(root: Path) -> Path:
    return root / read_json(root / POINTER)["place"]


def state(resource: Resource, local: Path | None) -> str | None:
    """Changes when a file is added, removed, renamed or written again; the workflow then reads the data again.

    None for what is copied and checked when it is fetched, and where nothing is there.
    """
    if local is None or not local.exists() or not isinstance(resource, Dataset):
        return None
    if not (resource.own or resource.needs):
        return None
    files = sorted(path for path in _watched(resource, local) if path.is_file())
    states = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    return digest(repr(states).encode())


def _watched(dataset: Dataset, local: Path) -> Iterable[Path]:
    """The user's files are few. Of a million images only the owners' lists are looked at."""
    if dataset.needs:
        return [local / name for name in dataset.needs]
    return [local, local.parent / CLASSES] if local.is_file() else local.rglob("*")


def listed_classes(folder: Path) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Names and words of classes.txt: a line per class in the order of the labels, `name` or `name: words`."""
    if not (folder / CLASSES).is_file():
        return None
    try:
        text = (folder / CLASSES).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise WarlabError(f"{folder / CLASSES} cannot be read as text ({error}); save it as UTF-8.") from error
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    pairs = [line.partition(":") for line in lines]
    names = tuple(name.strip() for name, _, _ in pairs)
    if len(set(names)) < max(len(names), 2):
        raise WarlabError(f"{folder / CLASSES} must name at least two classes, each once, one per line.")
    return names, tuple((words or name).strip() for name, _, words in pairs)


def described(dataset: Dataset, own: Own) -> Dataset:
    """The data set with the classes that were found and the mean and deviation of its training images."""
    odd = next((name for name in own.names if not name.isprintable()), None)
    if odd is not None:
        raise WarlabError(f"The class name {odd!r} has characters that cannot be printed; rename the class.")
    pixels = own.arrays.train_x / np.float32(255)
    return replace(
        dataset,
        class_names=own.names,
        words=own.words,
        mean=tuple(float(value) for value in pixels.mean(axis=(0, 2, 3), dtype=np.float64)),
        std=tuple(max(float(value), 1e-3) for value in pixels.std(axis=(0, 2, 3), dtype=np.float64)),
    )


def held_out(labels: np.ndarray) -> np.ndarray:
    """True for every fifth image of each class, the first of them included: those for the test."""
    number = np.empty(len(labels), int)
    for label in np.unique(labels):
        number[labels == label] = np.arange((labels == label).sum())
    return number % HELD_OUT == 0


def dataset(
    name: str,
    title: str,
    read: Callable[[Path, int | None], Own],
    stand_in: Callable[[Path, int], None],
    side: int = 32,
) -> Dataset:
    """What is known of the user's data before they are read."""
    return Dataset(
        name=name,
        title=title,
        class_names=(),
        words=(),
        mean=(),
        std=(),
        licence="the user's",
        homepage="docs/your-own-data.md",
        shape=(3, side, side),
        images=(0, 0),
        load=lambda root: read(root, None).arrays,
        stand_in=stand_in,
        read=read,
    )
