"""Fashion-MNIST: 60 000 + 10 000 grey images of 28×28, ten kinds of clothes (Xiao et al., 2017)."""

from pathlib import Path

import numpy as np

from warlab.data.base import Classes, Flips, Package, Pixels, Source
from warlab.data.formats import idx
from warlab.data.images_in_memory import Arrays, ImagesInMemory
from warlab.data.synthetic.patterns import shuffled_labels
from warlab.errors import WarlabError

_SIDE = 28
_NAMES = ("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot")
_FILES = (
    "train-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
)


def load(root: Path) -> Arrays:
    """Read the four official files, or an embedded part or stand-in under their names."""
    train_x, train_y, test_x, test_y = (idx.read(root / name) for name in _FILES)
    for name, images in ((_FILES[0], train_x), (_FILES[2], test_x)):
        if images.shape[1:] != (_SIDE, _SIDE):
            raise WarlabError(f"{root / name} holds {images.shape} instead of images of 28×28; fetch it again.")
    return Arrays(train_x[:, None], train_y.astype(np.int64), test_x[:, None], test_y.astype(np.int64))


def save(root: Path, arrays: Arrays) -> None:
    """Write images and labels under the official names, in the official format."""
    parts = (arrays.train_x[:, 0], arrays.train_y, arrays.test_x[:, 0], arrays.test_y)
    for name, values in zip(_FILES, parts, strict=True):
        idx.write(root / name, values.astype(np.uint8))


def stand_in(root: Path, seed: int, n_train: int = 600, n_test: int = 300) -> None:
    """Draw simple silhouettes of the ten classes; similar clothes have similar silhouettes."""
    rng = np.random.default_rng(seed)
    train_y, test_y = shuffled_labels(n_train, 10, rng), shuffled_labels(n_test, 10, rng)
    save(root, Arrays(_draw(train_y, rng), train_y, _draw(test_y, rng), test_y))


def _draw(labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw silhouettes at random places and sizes, in coordinates u (right) and v (down) from about -1 to 1."""
    n = len(labels)
    centre = rng.uniform(-0.12, 0.12, (2, n, 1, 1))
    size = rng.uniform(0.8, 1.1, (2, n, 1, 1))
    axis = (np.arange(_SIDE) + 0.5) / (_SIDE / 2) - 1
    u, v = (axis - centre[0]) / size[0], (axis[:, None] - centre[1]) / size[1]
    shade = np.choose(labels[:, None, None], _silhouettes(u, v))
    brightness = rng.uniform(110, 240, (n, 1, 1))
    image = shade * brightness + rng.normal(0, 25, shade.shape)
    return image.clip(0, 255).round().astype(np.uint8)[:, None]


def _silhouettes(u: np.ndarray, v: np.ndarray) -> list[np.ndarray]:
    """Return the pixels that each of the ten classes covers."""

    def torso(bottom: float) -> np.ndarray:
        return (abs(u) < 0.42) & (v > -0.8) & (v < bottom)

    def sleeves(bottom: float) -> np.ndarray:
        inner, outer = np.where(v > -0.4, 0.52, 0.42), np.minimum(0.85, 0.86 + 0.3 * v)
        return (abs(u) >= inner) & (abs(u) < outer) & (v > -0.8) & (v < bottom)

    def shoe(u: np.ndarray) -> np.ndarray:
        return (abs(u) < 0.85) & (v > 0.3 * u - 0.15) & (v < 0.5)

    t_shirt = torso(0.7) | sleeves(-0.3)
    trouser = (abs(u) < 0.4) & (abs(v) < 0.9) & ((abs(u) > 0.1) | (v < -0.5))
    pullover = torso(0.7) | sleeves(0.6)
    dress = (abs(u) < 0.3 + 0.12 * v) & (abs(v) < 0.9)
    coat = (torso(0.9) | sleeves(0.7)) & (abs(u) > 0.06)
    sole = (abs(u) < 0.85) & (v > 0.3) & (v < 0.5)
    straps = (abs(u) < 0.75) & (v > 0.15 * u - 0.3) & (v <= 0.3) & (np.sin(9 * u) > 0.3)
    buttons = (abs(u) < 0.08) & (np.sin(14 * v) > 0)
    collar = (v < -0.55) & (abs(u) < 0.15)
    shirt = pullover & ~buttons & ~collar
    handle = (abs(np.hypot(u / 0.4, (v + 0.2) / 0.5) - 1) < 0.2) & (v <= -0.2)
    bag = ((abs(u) < 0.75) & (v > -0.2) & (v < 0.7)) | handle
    shaft = (u > -0.85) & (u < 0.0) & (v > -0.7) & (v < 0.5)
    return [t_shirt, trouser, pullover, dress, coat, sole | straps, shirt, shoe(u), bag, shaft | shoe(-u)]


# The official bucket, which torchvision uses, and the authors' repository with the same files.
_HOMES = (
    "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
    "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
)
# file: md5 and bytes as published, then md5 and bytes of the decompressed file
_CHECKS = {
    _FILES[0]: ("8d4fb7e6c68d591d4c3dfef9ec88bf0d", 26421880, "f4a8712d7a061bf5bd6d2ca38dc4d50a", 47040016),
    _FILES[1]: ("25c81989df183df01b3e8a0aad5dffbe", 29515, "9018921c3c673c538a1fc5bad174d6f9", 60008),
    _FILES[2]: ("bef4ecab320f06d8554ea6380940ec79", 4422102, "8181f5470baa50b63fa0f6fddb340f0a", 7840016),
    _FILES[3]: ("bb300cfdad3c16e7a12a480ee83cd310", 5148, "15d484375f8d13e6eb1aabb0c3f46965", 10008),
}
# sha256 of the committed part, as tools/make_fashion_mnist_subset.py prints them
_EMBEDDED = {
    _FILES[0]: "d4ecfe7ea50f2a64be961818c86f97e537eb300e01c12c5e4879a554dff4d54b",
    _FILES[1]: "280260a4c48771b3d4d634972d9cf8d1c1dbddbfa14a1d714718a8d13bd236b1",
    _FILES[2]: "5b61c128325eff8e1e9294ddcdaf66f385ee0531bd0585932ed1fb89933ab0af",
    _FILES[3]: "c6f4c6a98fcb37c11a33b5f01548a402920fa735a18675eac4f6ac46757abe34",
}

# The paper's list names Shirt as a source twice (to Coat, to Pullover) without saying how the rate is split.
# Halves keep the probability of a flip at the nominal rate, as in every other source class.
_PAPER: Flips = {
    "Dress": {"T-shirt/top": 1.0},
    "Coat": {"Shirt": 1.0},
    "Shirt": {"Coat": 0.5, "Pullover": 0.5},
    "Sandal": {"Sneaker": 1.0},
    "Ankle boot": {"Sneaker": 1.0},
}
# The authors' code: Shirt goes to Coat only, Pullover to Shirt, and Ankle boot to Trouser.
_CODE: Flips = {
    "Pullover": {"Shirt": 1.0},
    "Dress": {"T-shirt/top": 1.0},
    "Coat": {"Shirt": 1.0},
    "Sandal": {"Sneaker": 1.0},
    "Shirt": {"Coat": 1.0},
    "Ankle boot": {"Trouser": 1.0},
}

DATASET = ImagesInMemory(
    name="fashion_mnist",
    title="Fashion-MNIST",
    classes=Classes(
        _NAMES,
        words=("t-shirt", *(name.lower() for name in _NAMES[1:])),
        flips={"asym": _PAPER, "asym_code": _CODE},
    ),
    # The paper and the authors' code scale to [-1, 1].
    pixels=Pixels((1, _SIDE, _SIDE), mean=(0.5,), std=(0.5,)),
    images=(60_000, 10_000),
    licence="MIT (Zalando SE, 2017)",
    homepage="https://github.com/zalandoresearch/fashion-mnist",
    load=load,
    stand_in=stand_in,
    sources=tuple(Source(name, tuple(home + name for home in _HOMES), *checks) for name, checks in _CHECKS.items()),
    packages=(Package("Debian", "dataset-fashion-mnist", "usr/share/datasets/fashion-mnist"),),
    embedded=tuple(Source(name, checksum=sha256) for name, sha256 in _EMBEDDED.items()),
)
