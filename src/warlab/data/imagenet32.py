"""ImageNet32: 1 281 167 + 50 000 colour images of 32×32, a thousand classes (Chrabaszcz et al., 2017).

Two data sets have this name. This one has labels: the owners' npz files train_data_batch_1 … 10 and val_data, with
rows of 3072 bytes and labels from 1 to 1000. The PNG files of van den Oord et al. (2016), which the paper cites, have
none. Both need an account at image-net.org and a folder: the owners publish neither addresses nor checksums.
"""

from pathlib import Path

import numpy as np

from warlab.data.base import Arrays, Dataset, Source
from warlab.data.drawn import draw, shuffled_labels
from warlab.errors import WarlabError
from warlab.files import read_arrays, write_arrays

CLASSES = 1000
_TRAIN = tuple(f"train_data_batch_{k}.npz" for k in range(1, 11))
_TEST = "val_data.npz"


def load(root: Path) -> Arrays:
    """The images of the ten batches in their order; the classes have the owners' numbers, less one."""
    parts = [_read(root / name) for name in _TRAIN]
    train_x, train_y = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return Arrays(train_x, train_y, *_read(root / _TEST))


def _read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    content = read_arrays(path)
    try:
        rows, labels = content["data"], content["labels"].astype(np.int64).reshape(-1) - 1
        return rows.reshape(len(labels), 3, 32, 32), labels
    except (KeyError, ValueError) as error:
        raise WarlabError(f"{path} is not a batch of ImageNet32 ({error}); see the owners' npz files.") from error


def stand_in(root: Path, seed: int, n_train: int = 2000, n_test: int = 1000) -> None:
    """Patterns in the owners' files, two training images of every class."""
    rng = np.random.default_rng(seed)
    batches = zip(_TRAIN, np.array_split(shuffled_labels(n_train, CLASSES, rng), len(_TRAIN)), strict=True)
    for name, labels in [*batches, (_TEST, shuffled_labels(n_test, CLASSES, rng))]:
        rows = draw(labels, [k // 10 for k in range(CLASSES)], "imagenet32", rng, 32).reshape(len(labels), -1)
        write_arrays(root / name, data=rows, labels=labels + 1)


DATASET = Dataset(
    name="imagenet32",
    title="ImageNet32",
    class_names=tuple(f"class {k}" for k in range(1, CLASSES + 1)),
    words=tuple(f"class {k}" for k in range(1, CLASSES + 1)),
    mean=(0.481, 0.457, 0.408),
    std=(1.0, 1.0, 1.0),
    licence="terms of access of ImageNet: non-commercial research",
    homepage="https://image-net.org/download-images",
    shape=(3, 32, 32),
    images=(1_281_167, 50_000),
    load=load,
    stand_in=stand_in,
    sources=tuple(Source(name, (), "", 0) for name in (*_TRAIN, _TEST)),
)
