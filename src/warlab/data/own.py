"""What the user's own data sets share: they stay where they are, and say themselves which classes they have."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from warlab.data.base import Arrays, Dataset
from warlab.errors import WarlabError
from warlab.files import digest, read_json, write_json

POINTER = "place.json"
CLASSES = "classes.txt"
HELD_OUT = 5  # without a test part of its own, every fifth image of a class is for the test


@dataclass(frozen=True)
class Own:
    """Arrays and the names of their classes; `words` are looked up among word vectors in place of the names."""

    arrays: Arrays
    names: tuple[str, ...]
    words: tuple[str, ...]


def point(dataset: Dataset, root: Path, local: Path | None) -> str:
    """Remember where the data are; they are not copied."""
    if local is None:
        raise WarlabError(f"{dataset.title} need a place: write local_data: {{{dataset.name}: path}} in the settings.")
    if not local.exists():
        raise WarlabError(f"There is no {local}, which local_data names for {dataset.name}; correct the path.")
    write_json(root / POINTER, {"place": str(local.resolve()), "listing": listing(local)})
    return str(local)


def place(root: Path) -> Path:
    return root / read_json(root / POINTER)["place"]


def listing(local: Path) -> str:
    """Changes when a file is added, removed, renamed or written anew; the workflow then reads the data again."""
    files = [local] if local.is_file() else sorted(path for path in local.rglob("*") if path.is_file())
    states = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    return digest(repr(states).encode())


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
