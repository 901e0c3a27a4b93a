"""The user's own images, a folder per class: `cat/1.png`, `dog/1.png`, …; or `train/cat/…` and `test/cat/…`; or a CSV
file with the label of each image, such as the labels.csv of an audit."""

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from warlab.common.wording import for_terminal, printable
from warlab.data import in_place, user_data
from warlab.data.base import Classes
from warlab.data.formats.image_file import GREY, opened, upright
from warlab.data.formats.image_list import read_image_list
from warlab.data.images_in_memory import Arrays
from warlab.data.synthetic.patterns import draw, shuffled_labels
from warlab.errors import WarlabError

_SIZE = 32


def read(root: Path, size: int | None) -> user_data.UserData:
    """Return all images, cropped and resized to `size` × `size` pixels; grey only if all are grey."""
    place = in_place.place(root)
    folder = place.parent if place.is_file() else place
    split = (place / "train").is_dir() and (place / "test").is_dir()
    parts = {part: _find_images(part) for part in ([place / "train", place / "test"] if split else [place])}
    listed = user_data.listed_classes(folder)
    classes = listed or Classes(tuple(next(iter(parts.values()))))
    for part, found in parts.items():
        _check_images(part, found, classes.names, folder / (in_place.CLASSES if listed else "train"))
    grey = all(_is_grey(path) for found in parts.values() for paths in found.values() for path in paths)
    read_part = partial(_read_part, names=classes.names, size=size or _SIZE, grey=grey)
    (x, y, files), *test = [read_part(found) for found in parts.values()]
    if test:
        arrays = Arrays(x, y, *test[0][:2])
    else:
        arrays, kept = user_data.hold_out(x, y)
        files = [files[number] for number in kept]
    names = [printable(Path(os.path.relpath(path, folder))) for path in files]
    return user_data.UserData(arrays, classes, names, clean_test=split)


def _find_images(folder: Path) -> dict[str, list[Path]]:
    """Return the images of each class, which are in its subfolder, or have its label in a CSV file."""
    if folder.is_file():
        return _find_listed_images(folder)
    subfolders = sorted(path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    if len(subfolders) < 2:
        count = len(subfolders)
        raise WarlabError(f"{folder} has {count} folders of images; it needs one for each class, at least two.")
    found: dict[str, list[Path]] = {name: [] for name in subfolders}
    for path in in_place.list_files(folder):
        if not path.exists():
            raise WarlabError(
                f"{for_terminal(path)} is a link to a file or folder that is not there; mount or remove it."
            )
        name = path.relative_to(folder).parts[0]
        if name in found and path.suffix.lower() in in_place.IMAGES:
            found[name].append(path)
    return found


def _find_listed_images(listing: Path) -> dict[str, list[Path]]:
    labels = read_image_list(listing)
    found: dict[str, list[Path]] = {name: [] for name in sorted(set(labels.values()))}
    for file, name in labels.items():
        path = listing.parent / file
        if not path.is_file():
            raise WarlabError(
                f"{for_terminal(listing)} lists {for_terminal(file)}, which is not there; the files are relative to "
                "the list, so keep both where they were, or remove the line."
            )
        found[name].append(path)
    if len(found) < 2:
        raise WarlabError(f"{for_terminal(listing)} has labels of {len(found)} classes; it needs at least two.")
    return found


def _check_images(part: Path, found: Mapping[str, Sequence[Path]], names: Sequence[str], listing: Path) -> None:
    """Refuse images of no class, and classes without images."""
    for name, paths in found.items():
        if paths and name not in names:
            raise WarlabError(
                f"{_where(part, name)} has images, but the class is not in {listing}; add it there, or move the "
                "images away."
            )
    for name in names:
        if len(found.get(name, [])) < 2:
            raise WarlabError(
                f"{_where(part, name)} has {len(found.get(name, []))} images "
                f"({', '.join(sorted(in_place.IMAGES))}); a class needs at least two."
            )


def _where(part: Path, name: str) -> str:
    return f"The class {name} of {for_terminal(part)}" if part.is_file() else for_terminal(part / name)


def _read_part(
    found: Mapping[str, Sequence[Path]], names: Sequence[str], size: int, grey: bool
) -> tuple[np.ndarray, np.ndarray, Sequence[Path]]:
    """Return images, labels and files."""
    files = [path for name in names for path in found[name]]
    images = np.empty((len(files), 1 if grey else 3, size, size), np.uint8)
    for row, path in enumerate(files):
        images[row] = _decoded(path, size, grey)
    return images, np.repeat(np.arange(len(names)), [len(found[name]) for name in names]), files


def _is_grey(path: Path) -> bool:
    with opened(path) as image:
        return image.mode in GREY


def _decoded(path: Path, size: int, grey: bool) -> np.ndarray:
    """(channels, size, size)"""
    with opened(path) as image:
        coloured = upright(image, path).convert("L" if grey else "RGB")
        square = ImageOps.fit(coloured, (size, size), Image.Resampling.BILINEAR)
        return np.atleast_3d(np.asarray(square)).transpose(2, 0, 1)


def stand_in(root: Path, seed: int, n: int = 240) -> None:
    """Draw images of three classes as PNG files."""
    rng = np.random.default_rng(seed)
    names = ("cat", "dog", "ship")
    labels = shuffled_labels(n, len(names), rng)
    for i, (label, image) in enumerate(zip(labels, draw(labels, "aab", "image_folder", rng, _SIZE), strict=True)):
        folder = root / "images" / names[label]
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray(image.transpose(1, 2, 0)).save(folder / f"{i:04}.png")
    in_place.write_pointer(root, "images")


class ImageFolder(user_data.UserSamples):
    def watched(self, local: Path) -> Iterable[Path]:
        """Return also the images that a CSV file lists."""
        yield from super().watched(local)
        if local.is_file():
            yield from (local.parent / file for file in read_image_list(local))


DATASET = ImageFolder(name="image_folder", title="Own images", read=read, stand_in=stand_in)
