"""The images that an audit judges: a folder per class, or a CSV file with the columns file and label."""

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from warlab.audit.report import read_rows
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
    left_out: int  # files in the folder that are no images

    @property
    def sizes(self) -> np.ndarray:
        """Return the number of images (C,) of each class."""
        return np.bincount(self.labels, minlength=len(self.classes))

    def select(self, mask: np.ndarray) -> "Listing":
        files = tuple(file for file, wanted in zip(self.files, mask, strict=True) if wanted)
        return Listing(self.folder, self.listing, self.classes, files, self.labels[mask], self.left_out)


def find_images(path: Path) -> Listing:
    """Return the images and labels at `path`."""
    if not path.exists():
        raise WarlabError(f"There is no {path}; name a folder with a folder per class, or a CSV file.")
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
    everything = [(name, path) for name in names for path in list_files(folder / name)]
    images = [(name, path) for name, path in everything if path.suffix.lower() in IMAGES]
    classes = tuple(sorted({name for name, _ in images}))
    number = {name: k for k, name in enumerate(classes)}
    files = tuple(path.relative_to(folder).as_posix() for _, path in images)
    labels = np.array([number[name] for name, _ in images], np.int64)
    return Listing(folder, None, classes, files, labels, len(everything) - len(images))


def _in_csv(path: Path) -> Listing:
    rows = read_rows(path, ("file", "label"))
    for line, row in enumerate(rows, 2):
        if not row["file"].strip() or not row["label"].strip():
            raise WarlabError(f"Row {line} of {path} has an empty file or label; fill it in or remove it.")
    files = tuple(row["file"] for row in rows)
    twice = [file for file, count in Counter(os.path.normpath(file) for file in files).items() if count > 1]
    if twice:
        raise WarlabError(f"{path} lists {twice[0]} more than once; keep one label of it.")
    classes = tuple(sorted({row["label"] for row in rows}))
    apart = Counter(name.strip() for name in classes)
    if spaced := [name for name in classes if apart[name.strip()] > 1]:
        names = " and ".join(map(repr, spaced[:2]))
        raise WarlabError(f"{path} has the labels {names}, which differ in spaces alone; write one of them.")
    number = {name: k for k, name in enumerate(classes)}
    labels = np.array([number[row["label"]] for row in rows], np.int64)
    return Listing(path.parent, path.name, classes, files, labels, 0)
