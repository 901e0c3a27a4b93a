"""Samples in memory: the kinds of datasets that fit into one array; subsets, pooling and checks of such arrays."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from warlab.artefacts.labelled_data import PreparedData
from warlab.common.seeds import derive_seed
from warlab.data.base import AS_THEY_ARE, Dataset, DataSpec, Pixels
from warlab.errors import WarlabError


@dataclass(frozen=True)
class Arrays:
    """Images as uint8 (N, channels, height, width) or vectors as float32 (N, …), clean labels as int64 (N,), and how
    many people chose each class for a training sample (N, C), where that is known."""

    train_x: np.ndarray
    train_y: np.ndarray
    test_x: np.ndarray
    test_y: np.ndarray
    train_votes: np.ndarray | None = None


@dataclass(frozen=True, kw_only=True)
class ImagesInMemory(Dataset):
    """`load` reads the official files in a folder, or a stand-in in the same format."""

    load: Callable[[Path], Arrays]

    def read_part(self, root: Path, spec: DataSpec, threads: int) -> PreparedData:
        arrays = self.load(root)
        validate(arrays, len(self.classes.names), self.samples)
        counts = (len(arrays.train_y), len(arrays.test_y))
        # Where the owners publish no checksums, only the counts show that the images are neither a part nor a stand-in.
        if spec.source == "real" and counts != self.images:
            raise WarlabError(
                f"{self.title} has {self.images[0]} training and {self.images[1]} test {self.samples}, but the files "
                f"have {counts[0]} and {counts[1]}; get all of them from {self.homepage}."
            )
        return prepare_images(self, arrays, spec)


@dataclass(frozen=True, kw_only=True)
class VectorsInMemory(ImagesInMemory):
    """`load` returns vectors that are used as they are, and the votes of raters if there are any."""

    samples: ClassVar[str] = "vectors"
    rated: ClassVar[bool] = True
    sentences: ClassVar[Mapping[str, str]] = {**Dataset.sentences, "real": "features of {title}, official files"}

    pixels: Pixels = AS_THEY_ARE


def prepare_images(dataset: Dataset, arrays: Arrays, spec: DataSpec, files: Sequence[str] = ()) -> PreparedData:
    """Return the part of the images that a scale uses; `files` say where each training image comes from."""
    seed = subset_seed(dataset.name)
    if spec.pool != 1 and dataset.samples == "vectors":
        raise WarlabError(f"`pool` makes images smaller, and {dataset.title} are no images; leave it out.")
    pooled = pool(subset(arrays, spec.train, spec.test, seed), spec.pool)
    part = {name: values for name, values in vars(pooled).items() if values is not None}
    about = dataset.describe(spec, part, list(part["train_x"].shape[1:]))
    if files:
        kept = choose(arrays.train_y, spec.train, seed, "training")
        about = replace(about, train_files=[files[number] for number in kept])
    return PreparedData(about, part)


def subset(arrays: Arrays, n_train: int | None, n_test: int | None, seed: int) -> Arrays:
    """Return a stratified part of both splits in the original order; None keeps all of a split.

    With the same seed, smaller parts are contained in larger ones.
    """
    if n_train is not None:
        train = choose(arrays.train_y, n_train, seed, "training")
        votes = None if arrays.train_votes is None else arrays.train_votes[train]
        arrays = replace(arrays, train_x=arrays.train_x[train], train_y=arrays.train_y[train], train_votes=votes)
    if n_test is not None:
        test = choose(arrays.test_y, n_test, seed, "test")
        arrays = replace(arrays, test_x=arrays.test_x[test], test_y=arrays.test_y[test])
    return arrays


def subset_seed(dataset: str) -> int:
    return derive_seed("subset", dataset)


def choose(labels: np.ndarray, n: int | None, seed: int, split: str) -> np.ndarray:
    """Return the indices of the images in a stratified part, sorted."""
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
    """Average-pool the images over `factor` × `factor` blocks, rounded to the nearest grey level. Incomplete blocks at
    the lower and right border are cut off."""
    if factor == 1:
        return arrays
    return replace(arrays, train_x=_pool_images(arrays.train_x, factor), test_x=_pool_images(arrays.test_x, factor))


def _pool_images(images: np.ndarray, factor: int) -> np.ndarray:
    n, channels, height, width = images.shape
    if not 1 <= factor <= min(height, width):
        raise WarlabError(f"Images of {height}×{width} cannot be pooled by {factor}; take a factor from 1 to the size.")
    rows, columns = height // factor, width // factor
    cropped = images[:, :, : rows * factor, : columns * factor]
    blocks = cropped.reshape(n, channels, rows, factor, columns, factor)
    total = blocks.sum(axis=(3, 5), dtype=np.uint32)
    return ((total + factor**2 // 2) // factor**2).astype(np.uint8)


def image_problem(x: np.ndarray) -> str | None:
    """Return what is wrong with images, or None."""
    if x.ndim != 4 or 0 in x.shape:
        return f"images must have shape (N, channels, height, width) without empty axes, not {x.shape}"
    if np.issubdtype(x.dtype, np.floating) and np.isnan(x).any():
        return "images contain NaN, replace or remove those images"
    return None if x.dtype == np.uint8 else f"images must be uint8 with values 0..255, not {x.dtype}"


def vector_problem(x: np.ndarray) -> str | None:
    """Return what is wrong with vectors, or None."""
    if x.dtype != np.float32 or x.ndim < 2 or 0 in x.shape:
        return f"vectors must be float32 of shape (N, features, …) without empty axes, not {x.dtype} of {x.shape}"
    finite = np.isfinite(x.reshape(len(x), -1)).all(axis=1)
    return None if finite.all() else f"row {np.argmin(finite)} of the vectors has a value that is not a finite number"


SAMPLE_PROBLEM = {"images": image_problem, "vectors": vector_problem}


def validate(arrays: Arrays, n_classes: int, samples: str = "images") -> None:
    """Raise a WarlabError for data on which training would be meaningless."""
    if n_classes < 2:
        raise WarlabError("The data has only one class; label noise needs at least two.")
    for split, x, y in (("training", arrays.train_x, arrays.train_y), ("test", arrays.test_x, arrays.test_y)):
        if problem := SAMPLE_PROBLEM[samples](x) or _label_problem(x, y, n_classes):
            raise WarlabError(f"The {split} data cannot be used: {problem}.")
    if arrays.train_x.shape[1:] != arrays.test_x.shape[1:]:
        raise WarlabError(
            f"Training samples have shape {arrays.train_x.shape[1:]} but test samples have "
            f"{arrays.test_x.shape[1:]}; bring both to one shape."
        )
    if (votes := arrays.train_votes) is not None and (problem := _vote_problem(votes, len(arrays.train_y), n_classes)):
        raise WarlabError(f"The votes for the training samples cannot be used: {problem}.")


def _vote_problem(votes: np.ndarray, n: int, n_classes: int) -> str | None:
    if votes.shape != (n, n_classes) or votes.dtype.kind not in "iu":
        return f"they must be whole numbers of shape ({n}, {n_classes}), not {votes.dtype} of {votes.shape}"
    bad = np.flatnonzero((votes < 0).any(1) | (votes.sum(1) == 0))
    return f"sample {bad[0]} has negative votes or none at all" if len(bad) else None


def _label_problem(x: np.ndarray, y: np.ndarray, n_classes: int) -> str | None:
    if y.shape != x.shape[:1]:
        return f"{len(x)} samples need labels of shape ({len(x)},), not {y.shape}"
    if y.dtype != np.int64:
        return f"labels must be int64, not {y.dtype}"
    if y.min() < 0 or y.max() >= n_classes:
        return f"labels must lie in 0..{n_classes - 1}, found {y.min()}..{y.max()}"
    empty = np.flatnonzero(np.bincount(y, minlength=n_classes) == 0)
    if len(empty):
        return f"there is no sample of class {', '.join(map(str, empty))}, every class needs at least one"
    return None
