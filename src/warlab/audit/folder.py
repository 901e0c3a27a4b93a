"""The images that an audit judges: a folder per class, or a CSV file with the columns file and label."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from warlab.common.wording import several
from warlab.data.formats.image_list import read_image_list
from warlab.data.in_place import IMAGES, list_files
from warlab.errors import WarlabError

SPLITS = {"train", "training", "test", "testing", "val", "valid", "validation", "dev"}


@dataclass(frozen=True)
class Listing:
    """`files` (N) are relative to `folder`; labels (N,) are numbers of `classes`."""

    folder: Path
    listing: str | None
    classes: tuple[str, ...]
    files: tuple[str, ...]
    labels: np.ndarray
    left_out: tuple[str, ...] = ()  # what else is in the folder, for people

    @property
    def sizes(self) -> np.ndarray:
        """Return the number of images (C,) of each class."""
        return np.bincount(self.labels, minlength=len(self.classes))

    def select(self, mask: np.ndarray) -> "Listing":
        return self._take(np.flatnonzero(mask))

    def sort(self) -> "Listing":
        """Return the images by class and name, so that a list and folders are judged alike."""
        return self._take(np.array(sorted(range(len(self.files)), key=lambda k: (self.labels[k], self.files[k]))))

    def _take(self, index: np.ndarray) -> "Listing":
        files = tuple(self.files[k] for k in index)
        return Listing(self.folder, self.listing, self.classes, files, self.labels[index], self.left_out)


def find_images(path: Path) -> Listing:
    """Return the images and labels at `path`."""
    if not path.exists():
        raise WarlabError(f"There is no {path}; name a folder with a folder per class, or a CSV file.")
    if path.suffix in (".npz", ".npy"):
        raise WarlabError(
            f"{path} holds numbers, and this command judges files of images; train on them with the workflow, and make "
            "the target `audit` (docs/your-own-data.md)."
        )
    found = _in_folder(path) if path.is_dir() else _in_csv(path)
    if len(found.classes) < 2:
        one = f"only of the class {found.classes[0]}" if found.classes else "of no class"
        raise WarlabError(f"{path} has images {one}; an audit compares two classes or more.")
    return found


def _in_folder(folder: Path) -> Listing:
    names = sorted(child.name for child in folder.iterdir() if child.is_dir() and not child.name.startswith("."))
    if names and {name.lower() for name in names} <= SPLITS:
        raise WarlabError(
            f"{folder} has the folders {' and '.join(names)} instead of one for each class; audit each by "
            f"itself: warlab audit {folder / names[0]}"
        )
    if not names:
        raise WarlabError(
            f"{folder} has no folder per class (such as {folder}/cat/1.jpg); sort the images "
            "into folders, or write a CSV file with the columns file and label and name that file."
        )
    loose = [path.name for path in sorted(folder.iterdir()) if path.suffix.lower() in IMAGES and path.is_file()]
    everything = [(name, path) for name in names for path in list_files(folder / name)]
    images = [(name, path) for name, path in everything if path.suffix.lower() in IMAGES]
    classes = tuple(sorted({name for name, _ in images}))
    number = {name: k for k, name in enumerate(classes)}
    files = tuple(path.relative_to(folder).as_posix() for _, path in images)
    labels = np.array([number[name] for name, _ in images], np.int64)
    no_images, empty = len(everything) - len(images), [name for name in names if name not in number]
    left_out = (
        f"left out, as they are no images: {several(no_images, 'file')}" if no_images else "",
        f"left out, as they are in no class: {several(len(loose), 'image')}, first {loose[0]}" if loose else "",
        f"folders without images, which are no classes here: {', '.join(empty)}" if empty else "",
    )
    return Listing(folder, None, classes, files, labels, left_out)


def _in_csv(path: Path) -> Listing:
    given = read_image_list(path)
    classes = tuple(sorted(set(given.values())))
    number = {name: k for k, name in enumerate(classes)}
    labels = np.array([number[label] for label in given.values()], np.int64)
    return Listing(path.parent, path.name, classes, tuple(given), labels)
