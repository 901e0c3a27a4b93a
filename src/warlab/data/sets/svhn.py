"""SVHN, cropped: 73 257 + 26 032 colour images of 32×32, the ten digits of house numbers (Netzer et al., 2011)."""

from functools import partial
from pathlib import Path

import numpy as np

from warlab.common.files import write_atomic
from warlab.data.base import Classes, Pixels, Source
from warlab.data.images_in_memory import Arrays, ImagesInMemory
from warlab.data.synthetic.patterns import draw, shuffled_labels
from warlab.errors import WarlabError

# file → md5 and bytes
_FILES = {
    "train_32x32.mat": ("e26dedcc434d2e4c54c9b2d4a06d8373", 182_040_794),
    "test_32x32.mat": ("eb5a983be6a315427106f1b164d9cef3", 64_275_384),
}
_HOME = "http://ufldl.stanford.edu/housenumbers/"


def load(root: Path) -> Arrays:
    train, test = (_read(root / name) for name in _FILES)
    return Arrays(*train, *test)


def _read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """X is (32, 32, 3, N), y is (N, 1) with 10 for the digit zero."""
    from scipy import io  # here because it is slow to import, and every plan of the workflow imports this module

    try:
        content = io.loadmat(str(path), variable_names=["X", "y"])
        images, labels = content["X"].transpose(3, 2, 0, 1), content["y"].astype(np.int64).reshape(-1) % 10
    except Exception as error:  # damaged files raise anything
        reason = " ".join(str(error).split())
        raise WarlabError(f"{path} is not a file of SVHN ({reason}); delete it and fetch it again.") from error
    return np.ascontiguousarray(images), labels


def stand_in(root: Path, seed: int, n_train: int = 600, n_test: int = 300) -> None:
    """Draw patterns in the official .mat files."""
    from scipy import io

    rng = np.random.default_rng(seed)
    for name, n in zip(_FILES, (n_train, n_test), strict=True):
        labels = shuffled_labels(n, 10, rng)
        images = draw(labels, range(10), "svhn", rng, 32).transpose(2, 3, 1, 0)
        content = {"X": images, "y": np.where(labels == 0, 10, labels).astype(np.uint8)[:, None]}
        write_atomic(root / name, partial(io.savemat, mdict=content))


DATASET = ImagesInMemory(
    name="svhn",
    title="SVHN",
    classes=Classes(tuple("0123456789")),
    pixels=Pixels((3, 32, 32), mean=(0.5, 0.5, 0.5), std=(0.5, 0.5, 0.5)),
    images=(73_257, 26_032),
    licence="for non-commercial use only (Netzer et al., 2011)",
    homepage=_HOME,
    load=load,
    stand_in=stand_in,
    sources=tuple(Source(name, (_HOME + name,), *checks) for name, checks in _FILES.items()),
)
