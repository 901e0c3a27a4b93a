"""What CIFAR-10 and CIFAR-100 share: batches of rows of 3072 bytes, pickled in a tar file (Krizhevsky, 2009)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from warlab.common.files import write_atomic
from warlab.data.base import Pixels, Source
from warlab.data.formats.archives import dump_pickle, load_pickle, read_tar
from warlab.data.images_in_memory import Arrays
from warlab.data.synthetic.patterns import draw, shuffled_labels
from warlab.errors import WarlabError

SIDE = 32
IMAGES = (50_000, 10_000)
LICENCE = "none stated by its authors; cite Krizhevsky (2009)"
HOMEPAGE = "https://www.cs.toronto.edu/~kriz/cifar.html"
_STAND_IN = {10: (600, 300), 100: (1000, 500)}  # classes → images for training and for test


@dataclass(frozen=True)
class Layout:
    """The official files. `train`, `test` and `names` map the batches of both splits and the file with the names of the
    classes to their MD5 sums; `labels` is the key of the labels in a batch."""

    archive: str
    folder: str
    labels: str
    train: dict[str, str]
    test: dict[str, str]
    names: dict[str, str]

    def sources(self, md5: str, size: int) -> tuple[Source, ...]:
        return (Source(self.archive, (f"https://www.cs.toronto.edu/~kriz/{self.archive}",), md5, size),)

    def unpacked(self) -> tuple[Source, ...]:
        """Return the files of the archive, for users who have unpacked it."""
        files = self.train | self.test | self.names
        return tuple(Source(f"{self.folder}/{name}", checksum=md5) for name, md5 in files.items())


def pixels(mean: tuple[float, ...]) -> Pixels:
    """The paper subtracts the means of the channels and does not divide."""
    return Pixels((3, SIDE, SIDE), mean, std=(1.0, 1.0, 1.0))


def load(layout: Layout, root: Path) -> Arrays:
    """Read the archive, or its unpacked files."""
    members = [f"{layout.folder}/{name}" for name in (*layout.train, *layout.test)]
    if (root / layout.archive).is_file():
        contents = read_tar(root / layout.archive, members)
    else:
        contents = {member: _read(root / member) for member in members}
    batches = [_batch(layout, member, content) for member, content in contents.items()]
    splits = batches[: len(layout.train)], batches[len(layout.train) :]
    return Arrays(*(np.concatenate(parts) for split in splits for parts in zip(*split, strict=True)))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise WarlabError(f"{path} cannot be read ({error.strerror}); fetch it again.") from error


def _batch(layout: Layout, name: str, content: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Return the images and labels of one pickled batch."""
    batch = load_pickle(content, name)
    try:
        rows, labels = batch["data"], np.array(batch[layout.labels], np.int64)
        images = rows.reshape(len(labels), 3, SIDE, SIDE)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise WarlabError(f"{name} is not a batch of CIFAR images ({error}); fetch it again.") from error
    return images, labels


def stand_in_labels(classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels of the training and test images of the stand-in."""
    rng, (n_train, n_test) = np.random.default_rng(seed), _STAND_IN[classes]
    return shuffled_labels(n_train, classes, rng), shuffled_labels(n_test, classes, rng)


def write_stand_in(layout: Layout, names: Sequence[str], groups: Sequence[object], root: Path, seed: int) -> None:
    """Draw patterns in the official files; classes of a group look similar."""
    train_y, test_y = stand_in_labels(len(names), seed)
    rng = np.random.default_rng([seed, 1])
    shares = zip(layout.train, np.array_split(train_y, len(layout.train)), strict=True)
    for name, labels in [*shares, *((name, test_y) for name in layout.test)]:
        rows = draw(labels, groups, layout.folder, rng, SIDE).reshape(len(labels), -1)
        _write(root / layout.folder / name, {"data": rows, layout.labels: labels.tolist()})
    for name in layout.names:
        _write(root / layout.folder / name, {f"{layout.labels.removesuffix('s')}_names": list(names)})


def _write(path: Path, content: object) -> None:
    write_atomic(path, lambda file: file.write(dump_pickle(content)))
