"""ImageNet32: 1 281 167 + 50 000 colour images of 32×32, a thousand classes (Chrabaszcz et al., 2017).

Two datasets have this name. This one has labels: the owners' npz files train_data_batch_1 … 10 and val_data, with
rows of 3072 bytes and labels from 1 to 1000. The PNG files of van den Oord et al. (2016), which the paper cites, have
none. Both need an account at image-net.org and a folder: the owners publish neither addresses nor checksums. (Other
loaders have MD5 sums, which we could not compare with the owners' files.) Instead, the numbers of images are checked
when the data are prepared; the receipt and the run's identity have checksums of what was read.
"""

from functools import partial
from pathlib import Path
from typing import IO

import numpy as np

from warlab.common.files import read_arrays, write_arrays, write_atomic
from warlab.data.base import Classes, Pixels, Source
from warlab.data.images_in_memory import Arrays, ImagesInMemory
from warlab.data.synthetic.patterns import draw, shuffled_labels
from warlab.errors import WarlabError

CLASSES = 1000
_TRAIN = tuple(f"train_data_batch_{k}.npz" for k in range(1, 11))
_TEST = "val_data.npz"
_SHAPE = (3, 32, 32)
_CONVERTED = ".converted-train.npy"


def load(root: Path) -> Arrays:
    """Return the images of the ten batches in their order; labels are the owners' numbers minus one.

    The images take four gigabytes. They are written into one file once, batch by batch; a scale then reads only the
    images that it uses.
    """
    kept, labels = root / _CONVERTED, np.concatenate([_labels(root / name) for name in _TRAIN])
    if not kept.is_file() or kept.stat().st_mtime_ns < max((root / name).stat().st_mtime_ns for name in _TRAIN):
        write_atomic(kept, partial(_convert, root, len(labels)))
    train_x = np.load(kept, mmap_mode="r", allow_pickle=False)
    return Arrays(train_x, labels, _images(root / _TEST), _labels(root / _TEST))


def _convert(root: Path, n: int, file: IO[bytes]) -> None:
    header = {"descr": "|u1", "fortran_order": False, "shape": (n, *_SHAPE)}
    np.lib.format.write_array_header_1_0(file, header)
    for name in _TRAIN:
        file.write(np.ascontiguousarray(_images(root / name)).tobytes())


def _labels(path: Path) -> np.ndarray:
    return read_arrays(path, "labels")["labels"].astype(np.int64).reshape(-1) - 1


def _images(path: Path) -> np.ndarray:
    rows, n = read_arrays(path, "data")["data"], len(_labels(path))
    if rows.dtype != np.uint8 or rows.size != n * int(np.prod(_SHAPE)):
        raise WarlabError(f"{path} has {n} labels and {rows.shape} values; see the owners' npz files.")
    return rows.reshape(n, *_SHAPE)


def stand_in(root: Path, seed: int, n_train: int = 2000, n_test: int = 1000) -> None:
    """Draw patterns in the owners' files, two training images of every class."""
    rng = np.random.default_rng(seed)
    batches = zip(_TRAIN, np.array_split(shuffled_labels(n_train, CLASSES, rng), len(_TRAIN)), strict=True)
    for name, labels in [*batches, (_TEST, shuffled_labels(n_test, CLASSES, rng))]:
        rows = draw(labels, [k // 10 for k in range(CLASSES)], "imagenet32", rng, 32).reshape(len(labels), -1)
        write_arrays(root / name, data=rows, labels=labels + 1)


DATASET = ImagesInMemory(
    name="imagenet32",
    title="ImageNet32",
    classes=Classes(tuple(f"class {k}" for k in range(1, CLASSES + 1))),
    pixels=Pixels(_SHAPE, mean=(0.481, 0.457, 0.408), std=(1.0, 1.0, 1.0)),
    images=(1_281_167, 50_000),
    licence="terms of access of ImageNet: non-commercial research",
    homepage="https://image-net.org/download-images",
    load=load,
    stand_in=stand_in,
    sources=tuple(Source(name) for name in (*_TRAIN, _TEST)),
)
