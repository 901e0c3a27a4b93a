"""The user's own images, whose classes are found when they are read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from warlab.artefacts.labelled_data import PreparedData
from warlab.data.base import STAND_IN, Classes, Dataset, DataSpec, Pixels
from warlab.data.images_in_memory import Arrays, prepare_images, validate
from warlab.data.in_place import CLASSES, InPlace
from warlab.errors import WarlabError

HELD_OUT = 5  # without a test part, every fifth image of a class is for the test


@dataclass(frozen=True)
class UserData:
    """Arrays and their classes; `files` say where the user finds each training image. The test labels are clean if the
    user gives a test part; images that are held out from the others have labels that are as noisy."""

    arrays: Arrays
    classes: Classes
    files: Sequence[str] = ()
    clean_test: bool = False


@dataclass(frozen=True, kw_only=True)
class UserImages(InPlace):
    """The user's own images. `read` takes a folder and the size to which images are cut."""

    sentences: ClassVar[Mapping[str, str]] = {**Dataset.sentences, "real": "the user's own data"}
    resizes: ClassVar[bool] = True

    licence: str = "the user's"
    homepage: str = "docs/your-own-data.md"
    read: Callable[[Path, int | None], UserData]

    def read_part(self, root: Path, spec: DataSpec, threads: int) -> PreparedData:
        data = self.read(root, spec.size)
        validate(data.arrays, len(data.classes.names))
        for name in data.classes.names:
            if not name.isprintable():
                raise WarlabError(f"The class name {name!r} has characters that cannot be printed; rename the class.")
        mean, std = mean_and_deviation(data.arrays.train_x)
        pixels = Pixels(mean=tuple(mean.tolist()), std=tuple(np.maximum(std, 1e-3).tolist()))
        dataset = replace(self, classes=data.classes, pixels=pixels)
        prepared = prepare_images(dataset, data.arrays, spec, data.files)
        clean_test = data.clean_test or spec.source == STAND_IN
        return replace(prepared, about=replace(prepared.about, clean_test=clean_test))


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
    """Return the classes of classes.txt: a line for each in the order of the labels, `name` or `name: words`."""
    file = folder / CLASSES
    if not file.is_file():
        return None
    try:
        lines = [line.strip() for line in file.read_text("utf-8-sig").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise WarlabError(f"{file} cannot be read as text ({error}); save it as UTF-8.") from error
    pairs = [line.partition(":") for line in lines]
    names = tuple(name.strip() for name, _, _ in pairs)
    if len(set(names)) < max(len(lines), 2):
        raise WarlabError(f"{file} must name at least two classes, each once, one per line.")
    return Classes(names, tuple((words or name).strip() for name, _, words in pairs))


def hold_out(x: np.ndarray, y: np.ndarray) -> tuple[Arrays, np.ndarray]:
    """Use every fifth image of each class, beginning with the first, for the test. Also return the indices of the
    training images."""
    test = np.zeros(len(y), bool)
    for label in np.unique(y):
        test[np.flatnonzero(y == label)[::HELD_OUT]] = True
    return Arrays(x[~test], y[~test], x[test], y[test]), np.flatnonzero(~test)
