"""The user's own numbers: an npz file with train_x, train_y and optionally test_x and test_y, of floats of any shape.

Rows of a table, embeddings or other features; for images of bytes see `arrays`. Values are used as they are.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from warlab.artefacts.labelled_data import PreparedData
from warlab.common.files import read_arrays, write_arrays
from warlab.data import in_place, user_data
from warlab.data.base import STAND_IN, Classes, Dataset, DataSpec, Pixels
from warlab.data.images_in_memory import Arrays, subset, subset_seed
from warlab.data.sets.arrays import integers, refuse_bomb
from warlab.data.synthetic.patterns import shuffled_labels
from warlab.errors import WarlabError

STAND_IN_SIZE = 12


@dataclass(frozen=True, kw_only=True)
class UserVectors(in_place.InPlace):
    """Training standardises nothing: the mean is 0 and the deviation 1 in the description of the data."""

    samples: ClassVar[str] = "vectors"
    sentences: ClassVar[Mapping[str, str]] = {**Dataset.sentences, "real": "the user's own data"}

    def read_part(self, root: Path, spec: DataSpec, threads: int) -> PreparedData:
        if spec.pool != 1:
            raise WarlabError(f"`pool` makes images smaller, and {self.title} are no images; leave it out.")
        arrays, classes, clean_test = read(in_place.place(root))
        part = vars(subset(arrays, spec.train, spec.test, subset_seed(self.name)))
        dataset = replace(self, classes=classes, pixels=Pixels(mean=(0.0,), std=(1.0,)))
        about = dataset.describe(spec, part, list(arrays.train_x.shape[1:]))
        return PreparedData(replace(about, clean_test=clean_test or spec.source == STAND_IN), part)


def read(path: Path) -> tuple[Arrays, Classes, bool]:
    """Return the arrays, the classes, and whether the test part is the user's own."""
    refuse_bomb(path)
    content = read_arrays(path)
    if missing := {"train_x", "train_y"} - set(content):
        raise WarlabError(f"{path} has no {' and no '.join(sorted(missing))}; see docs/your-own-data.md.")
    tests = sorted({"test_x", "test_y"} & set(content))
    if len(tests) == 1:
        absent = "test_y" if tests == ["test_x"] else "test_x"
        raise WarlabError(f"{path} has {tests[0]} but no {absent}; give both or none.")
    x, y = _numbers(content["train_x"], path, "train_x"), integers(content["train_y"])
    _check_labels(x, y, path, "train_y")
    if tests:
        arrays = Arrays(x, y, _numbers(content["test_x"], path, "test_x"), integers(content["test_y"]))
        _check_labels(arrays.test_x, arrays.test_y, path, "test_y")
    else:
        arrays, _ = user_data.hold_out(x, y)
    if arrays.train_x.shape[1:] != arrays.test_x.shape[1:]:
        raise WarlabError(
            f"{path}: samples of train_x have shape {arrays.train_x.shape[1:]}, those of test_x "
            f"{arrays.test_x.shape[1:]}; bring both to one shape."
        )
    count = int(max(arrays.train_y.max(), arrays.test_y.max())) + 1
    classes = user_data.listed_classes(path.parent) or Classes(tuple(f"class {k}" for k in range(count)))
    _check_classes(arrays, len(classes.names), path)
    return arrays, classes, bool(tests)


def _numbers(values: np.ndarray, path: Path, name: str) -> np.ndarray:
    """Return float32 (N, …), finite."""
    if values.dtype.kind not in "fiu" or values.ndim < 2 or 0 in values.shape:
        raise WarlabError(
            f"{path}: {name} must be numbers of shape (N, features, …), not {values.dtype} of {values.shape}."
        )
    values = values.astype(np.float32)
    bad = np.flatnonzero(~np.isfinite(values.reshape(len(values), -1)).all(axis=1))
    if len(bad):
        raise WarlabError(
            f"{path}: row {bad[0]} of {name} has a value that is not a finite number; replace or remove it."
        )
    return values


def _check_labels(x: np.ndarray, y: np.ndarray, path: Path, name: str) -> None:
    if y.shape != x.shape[:1]:
        raise WarlabError(f"{path}: {len(x)} samples need one label each, but {name} has shape {y.shape}.")


def _check_classes(arrays: Arrays, count: int, path: Path) -> None:
    for name, labels in (("train_y", arrays.train_y), ("test_y", arrays.test_y)):
        if labels.min() < 0 or labels.max() >= count:
            raise WarlabError(f"{path}: {name} must lie in 0..{count - 1}, found {labels.min()}..{labels.max()}.")
        empty = np.flatnonzero(np.bincount(labels, minlength=count) == 0)
        if len(empty):
            raise WarlabError(f"{path}: no sample of class {empty[0]} in {name}; every class needs at least one.")
    if count < 2:
        raise WarlabError("The data has only one class; label noise needs at least two.")


def stand_in(root: Path, seed: int, n: int = 240) -> None:
    """Draw three clusters of vectors and name them."""
    rng = np.random.default_rng(seed)
    labels = shuffled_labels(n, 3, rng)
    centres = 2 * rng.standard_normal((3, STAND_IN_SIZE))
    values = (centres[labels] + rng.standard_normal((n, STAND_IN_SIZE))).astype(np.float32)
    write_arrays(root / "own.npz", train_x=values, train_y=labels)
    (root / in_place.CLASSES).write_text("cat\ndog\nship: yacht\n")
    in_place.write_pointer(root, "own.npz")


DATASET = UserVectors(
    name="vectors",
    title="Own vectors",
    licence="the user's",
    homepage="docs/your-own-data.md",
    stand_in=stand_in,
)
