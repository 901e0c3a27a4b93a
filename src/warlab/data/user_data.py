"""The user's own samples, whose classes are found when they are read."""

import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from warlab.artefacts.labelled_data import PreparedData
from warlab.common.files import read_arrays, write_arrays
from warlab.data.base import STAND_IN, Classes, Dataset, DataSpec, Pixels
from warlab.data.images_in_memory import Arrays, prepare_images, validate
from warlab.data.in_place import CLASSES, InPlace, write_pointer
from warlab.errors import WarlabError

ARRAYS = ("train_x", "train_y", "test_x", "test_y", "train_votes")
MOST_BYTES = 1 << 30  # below, even a bomb does no harm
ORDERED = re.compile(r"#\s*ordered", re.IGNORECASE)  # first line of classes.txt
HELD_OUT = 5  # without a test part, every fifth sample of a class is for the test


@dataclass(frozen=True)
class UserData:
    """Arrays and their classes; `files` say where the user finds each training image. The test labels are clean if the
    user gives a test part; images that are held out from the others have labels that are as noisy."""

    arrays: Arrays
    classes: Classes
    files: Sequence[str] = ()
    clean_test: bool = False


@dataclass(frozen=True, kw_only=True)
class UserSamples(InPlace):
    """The user's own samples. `read` takes a folder and the size to which images are cut."""

    sentences: ClassVar[Mapping[str, str]] = {**Dataset.sentences, "real": "the user's own data"}
    resizes: ClassVar[bool] = True
    rated: ClassVar[bool] = True

    licence: str = "the user's"
    homepage: str = "docs/your-own-data.md"
    read: Callable[[Path, int | None], UserData]

    def read_part(self, root: Path, spec: DataSpec, threads: int) -> PreparedData:
        data = self.read(root, spec.size)
        validate(data.arrays, len(data.classes.names), self.samples)
        for name in data.classes.names:
            if not name.isprintable():
                raise WarlabError(f"The class name {name!r} has characters that cannot be printed; rename the class.")
        dataset = replace(self, classes=data.classes, pixels=self.normalisation(data.arrays.train_x))
        prepared = prepare_images(dataset, data.arrays, spec, data.files)
        clean_test = data.clean_test or spec.source == STAND_IN
        return replace(prepared, about=replace(prepared.about, clean_test=clean_test))

    def normalisation(self, x: np.ndarray) -> Pixels:
        """Return the mean and deviation with which training standardises samples such as these."""
        mean, std = mean_and_deviation(x)
        return Pixels(mean=tuple(mean.tolist()), std=tuple(np.maximum(std, 1e-3).tolist()))


def read_npz(path: Path, convert: Callable[[np.ndarray], np.ndarray]) -> UserData:
    """Read an npz file with train_x, train_y, optionally test_x and test_y, and optionally train_votes. `convert` makes
    samples of an x."""
    advice = "save the arrays by numpy.savez, see docs/your-own-data.md"
    if not zipfile.is_zipfile(path):
        raise WarlabError(f"{path} is no npz file; {advice}.")
    refuse_bomb(path)
    content = read_arrays(path, advice=advice)
    if missing := {"train_x", "train_y"} - set(content):
        raise WarlabError(f"{path} has no {' and no '.join(sorted(missing))}; see docs/your-own-data.md.")
    if single := [name for name in ARRAYS if name in content and content[name].ndim == 0]:
        raise WarlabError(f"{path}: {single[0]} is a single value, not an array; see docs/your-own-data.md.")
    tests = sorted({"test_x", "test_y"} & set(content))
    if len(tests) == 1:
        absent = "test_y" if tests == ["test_x"] else "test_x"
        raise WarlabError(f"{path} has {tests[0]} but no {absent}; give both or none.")
    x, y = convert(content["train_x"]), _integers(content["train_y"])
    if y.shape != x.shape[:1]:
        raise WarlabError(f"{path}: {len(x)} samples need one label each, but train_y has shape {y.shape}.")
    if tests:
        arrays, rows = Arrays(x, y, convert(content["test_x"]), _integers(content["test_y"])), np.arange(len(x))
    else:
        arrays, rows = hold_out(x, y)
    if (votes := content.get("train_votes")) is not None:
        if len(votes) != len(x):
            raise WarlabError(f"{path}: {len(x)} samples need one row of votes each, but train_votes has {len(votes)}.")
        arrays = replace(arrays, train_votes=votes[rows])
    classes = listed_classes(path.parent)
    if classes is None:
        if (largest := int(y.max(initial=0))) >= len(y):  # before a name is made for every number below
            raise WarlabError(
                f"{path} has the label {largest} but {len(y)} samples; number the classes from 0 without gaps."
            )
        classes = Classes(tuple(f"class {k}" for k in range(largest + 1)))
    return UserData(arrays, classes, [f"train_x[{row}]" for row in rows], clean_test=bool(tests))


def refuse_bomb(path: Path) -> None:
    """Images are never compressed to a hundredth: a file that unfolds to more was made to exhaust the memory."""
    try:
        with zipfile.ZipFile(path) as archive:
            unfolded = sum(member.file_size for member in archive.infolist())
    except (OSError, zipfile.BadZipFile):
        return  # `read_arrays` has the better message
    if unfolded > MOST_BYTES and unfolded > 100 * path.stat().st_size:
        raise WarlabError(f"{path} is refused: its {path.stat().st_size} bytes unfold to {unfolded}.")


def _integers(labels: np.ndarray) -> np.ndarray:
    if labels.dtype.kind not in "iu":
        raise WarlabError(f"Labels must be whole numbers from 0, not {labels.dtype}; number the classes.")
    return labels.astype(np.int64)


def write_stand_in(root: Path, x: np.ndarray, y: np.ndarray) -> None:
    """Write samples of three classes as a user would: an npz file with names beside it."""
    write_arrays(root / "own.npz", train_x=x, train_y=y)
    (root / CLASSES).write_text("cat\ndog\nship: yacht\n")
    write_pointer(root, "own.npz")


def mean_and_deviation(images: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return those of x / 255 in each channel. The pixels are counted by value, as images in float64 would need
    eight times the memory."""
    counts = np.zeros((images.shape[1], 256))
    for image in images:
        counts += [np.bincount(channel.ravel(), minlength=256) for channel in image]
    shares = counts / counts.sum(axis=1, keepdims=True)
    values = np.arange(256, dtype=np.float32) / np.float32(255)  # as training computes them
    mean = shares @ values
    return mean, np.sqrt((shares * (values - mean[:, None]) ** 2).sum(axis=1))


def listed_classes(folder: Path) -> Classes | None:
    """Return the classes of classes.txt: a line for each in the order of the labels, `name` or `name: words`. The order
    has a meaning if the first line says so."""
    file = folder / CLASSES
    if not file.is_file():
        return None
    try:
        lines = [line.strip() for line in file.read_text("utf-8-sig").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise WarlabError(f"{file} cannot be read as text ({error}); save it as UTF-8.") from error
    ordered = bool(lines) and ORDERED.fullmatch(lines[0]) is not None
    lines = lines[ordered:]
    pairs = [line.partition(":") for line in lines]
    names = tuple(name.strip() for name, _, _ in pairs)
    if len(set(names)) < max(len(lines), 2):
        raise WarlabError(f"{file} must name at least two classes, each once, one per line.")
    return Classes(names, tuple((words or name).strip() for name, _, words in pairs), ordered=ordered)


def hold_out(x: np.ndarray, y: np.ndarray) -> tuple[Arrays, np.ndarray]:
    """Use every fifth sample of each class, beginning with the first, for the test. Also return the indices of the
    training samples."""
    test = np.zeros(len(y), bool)
    for label, count in zip(*np.unique(y, return_counts=True), strict=True):
        if count == 1:
            raise WarlabError(
                f"Class {label} (classes count from 0) has one sample, which would be held out for the test; add "
                "another, or give a test part."
            )
        test[np.flatnonzero(y == label)[::HELD_OUT]] = True
    return Arrays(x[~test], y[~test], x[test], y[test]), np.flatnonzero(~test)
