"""What CIFAR-10 and CIFAR-100 share: batches of rows of 3072 bytes, pickled in a tar file (Krizhevsky, 2009)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from warlab.common.files import file_digest, read_arrays, write_atomic
from warlab.data.base import Source
from warlab.data.formats import pickles
from warlab.data.formats.archives import read_tar
from warlab.data.images import Arrays
from warlab.data.synthetic.patterns import draw, shuffled_labels
from warlab.errors import WarlabError

SIDE = 32
CONVERTED = ".converted.npz"


@dataclass(frozen=True)
class Layout:
    """The official files: their folder, which batches are for training and for test, and the key of the labels."""

    archive: str
    folder: str
    train: tuple[str, ...]
    test: tuple[str, ...]
    labels: str
    checks: dict[str, str]  # file of the folder → md5

    def sources(self, md5: str, size: int, home: str) -> tuple[Source, ...]:
        return (Source(self.archive, (home + self.archive,), md5, size),)

    def unpacked(self) -> tuple[Source, ...]:
        """The files of the archive, for who has unpacked it."""
        return tuple(Source(f"{self.folder}/{name}", (), md5, 0) for name, md5 in self.checks.items())


def load(layout: Layout, root: Path) -> Arrays:
    """From the archive or, where it was unpacked, from its files; the archive is converted once."""
    if (root / layout.archive).is_file():
        return once(root / layout.archive, partial(_from_archive, layout))
    return _from_batches(layout, {name: _read(root / layout.folder / name) for name in layout.train + layout.test})


def once(archive: Path, read: Callable[[Path], Arrays]) -> Arrays:
    """What `read` makes of the archive, kept next to it with the archive's checksum for the next time."""
    kept, of = archive.parent / CONVERTED, file_digest(archive, "md5")
    if kept.is_file():
        found = read_arrays(kept)
        if str(found.pop("archive")) == of:
            return Arrays(**found)
    arrays = read(archive)
    # not compressed: it would take longer than reading the archive again
    write_atomic(kept, lambda file: np.savez(file, archive=np.array(of), **vars(arrays)))
    return arrays


def _from_archive(layout: Layout, path: Path) -> Arrays:
    wanted = [f"{layout.folder}/{name}" for name in layout.train + layout.test]
    members = read_tar(path, wanted)
    return _from_batches(layout, {Path(name).name: content for name, content in members.items()})


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise WarlabError(f"{path} cannot be read ({error.strerror}); fetch it again.") from error


def _from_batches(layout: Layout, contents: dict[str, bytes]) -> Arrays:
    train = [_batch(layout, name, contents[name]) for name in layout.train]
    test = [_batch(layout, name, contents[name]) for name in layout.test]
    return Arrays(*_joined(train), *_joined(test))


def _batch(layout: Layout, name: str, content: bytes) -> tuple[np.ndarray, np.ndarray]:
    batch = pickles.loads(content, name)
    try:
        rows, labels = batch["data"], np.array(batch[layout.labels], np.int64)
        images = rows.reshape(len(labels), 3, SIDE, SIDE)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise WarlabError(f"{name} is not a batch of CIFAR images ({error}); fetch it again.") from error
    return images, labels


def _joined(parts: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    return np.concatenate([images for images, _ in parts]), np.concatenate([labels for _, labels in parts])


def stand_in_labels(classes: int, seed: int, n_train: int, n_test: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return shuffled_labels(n_train, classes, rng), shuffled_labels(n_test, classes, rng)


def write_stand_in(
    layout: Layout,
    root: Path,
    groups: Sequence[object],
    seed: int,
    n_train: int,
    n_test: int,
    extra: Mapping[str, object],
) -> None:
    """Patterns in the official files: `extra` are files of the folder besides the batches, such as the names."""
    train_y, test_y = stand_in_labels(len(groups), seed, n_train, n_test)
    rng = np.random.default_rng([seed, 1])
    shares = zip(layout.train, np.array_split(train_y, len(layout.train)), strict=True)
    for name, labels in [*shares, *((name, test_y) for name in layout.test)]:
        rows = draw(labels, groups, layout.folder, rng, SIDE).reshape(len(labels), -1)
        _write(root / layout.folder / name, {"data": rows, layout.labels: labels.tolist()})
    for name, content in extra.items():
        _write(root / layout.folder / name, content)


def _write(path: Path, content: object) -> None:
    write_atomic(path, lambda file: file.write(pickles.dumps(content)))
