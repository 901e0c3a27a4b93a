"""The user's own arrays: an npz file with train_x, train_y and optionally test_x and test_y."""

import zipfile
from pathlib import Path

import numpy as np

from warlab.common.files import read_arrays, write_arrays
from warlab.data import in_place, user_data
from warlab.data.base import Classes
from warlab.data.images_in_memory import Arrays
from warlab.data.synthetic.patterns import draw, shuffled_labels
from warlab.errors import WarlabError

_MOST_BYTES = 1 << 30  # below, even a bomb does no harm


def read(root: Path, size: int | None) -> user_data.UserData:
    """Images are uint8 (N, height, width) or (N, height, width, channels) or (N, channels, height, width)."""
    path = in_place.place(root)
    if size is not None:
        raise WarlabError("Images of arrays keep their size; leave out `size`, or take `pool`.")
    refuse_bomb(path)
    content = read_arrays(path)
    if missing := {"train_x", "train_y"} - set(content):
        raise WarlabError(f"{path} has no {' and no '.join(sorted(missing))}; see docs/your-own-data.md.")
    tests = sorted({"test_x", "test_y"} & set(content))
    if len(tests) == 1:
        absent = "test_y" if tests == ["test_x"] else "test_x"
        raise WarlabError(f"{path} has {tests[0]} but no {absent}; give both or none.")
    arrays, rows = _arrays(content)
    numbered = Classes(tuple(f"class {k}" for k in range(int(arrays.train_y.max(initial=0)) + 1)))
    files = [f"train_x[{row}]" for row in rows]
    classes = user_data.listed_classes(path.parent) or numbered
    return user_data.UserData(arrays, classes, files, clean_test=bool(tests))


def refuse_bomb(path: Path) -> None:
    """Images are never compressed to a hundredth: a file that unfolds to more was made to exhaust the memory."""
    try:
        with zipfile.ZipFile(path) as archive:
            unfolded = sum(member.file_size for member in archive.infolist())
    except (OSError, zipfile.BadZipFile):
        return  # `read_arrays` has the better message
    if unfolded > _MOST_BYTES and unfolded > 100 * path.stat().st_size:
        raise WarlabError(f"{path} is refused: its {path.stat().st_size} bytes unfold to {unfolded}.")


def _arrays(content: dict[str, np.ndarray]) -> tuple[Arrays, np.ndarray]:
    """The arrays, and the row of each training image in the user's file."""
    x, y = _channels_first(content["train_x"]), integers(content["train_y"])
    if "test_x" in content:
        return Arrays(x, y, _channels_first(content["test_x"]), integers(content["test_y"])), np.arange(len(x))
    if y.shape != x.shape[:1]:
        raise WarlabError(f"{len(x)} images need one label each, not labels of shape {y.shape}.")
    return user_data.hold_out(x, y)


def _channels_first(images: np.ndarray) -> np.ndarray:
    """The channels are the shorter one of the first and the last axis of an image."""
    if images.ndim == 3:
        return images[:, None]
    if images.ndim != 4 or images.shape[1] < images.shape[3]:
        return images
    if images.shape[1] == images.shape[3]:
        raise WarlabError(
            f"Images of shape {images.shape[1:]} do not show which axis has the channels; give fewer channels than "
            "pixels in a row."
        )
    return np.ascontiguousarray(images.transpose(0, 3, 1, 2))


def integers(labels: np.ndarray) -> np.ndarray:
    if labels.dtype.kind not in "iu":
        raise WarlabError(f"Labels must be whole numbers from 0, not {labels.dtype}; number the classes.")
    return labels.astype(np.int64)


def stand_in(root: Path, seed: int, n: int = 240) -> None:
    """Draw images of three classes and name them."""
    rng = np.random.default_rng(seed)
    labels = shuffled_labels(n, 3, rng)
    write_arrays(root / "own.npz", train_x=draw(labels, "aab", "arrays", rng, 32), train_y=labels)
    (root / in_place.CLASSES).write_text("cat\ndog\nship: yacht\n")
    in_place.write_pointer(root, "own.npz")


DATASET = user_data.UserImages(name="arrays", title="Own arrays", read=read, stand_in=stand_in)
