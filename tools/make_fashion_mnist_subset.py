"""Make the embedded part of Fashion-MNIST from the full set: 600 training and 200 test images per class.

    python tools/make_fashion_mnist_subset.py FOLDER [OUT]

FOLDER holds the four official files; missing ones are downloaded. The same input gives the same bytes; the printed
checksums belong in `_EMBEDDED` of warlab/data/sets/fashion_mnist.py and in SOURCE.md.
"""

import sys
from pathlib import Path

import numpy as np

from warlab.common.files import file_digest
from warlab.common.seeds import derive_seed
from warlab.data.fetch import fetch
from warlab.data.images_in_memory import subset, validate
from warlab.data.sets import fashion_mnist

ASSETS = Path(__file__).parents[1] / "src" / "warlab" / "assets" / "fashion_mnist"
N_TRAIN, N_TEST = 6000, 2000


def main(folder: Path, out: Path) -> None:
    dataset = fashion_mnist.DATASET
    fetch(dataset, folder, "real")
    seed = derive_seed("embedded", dataset.name)
    arrays = subset(fashion_mnist.load(folder), N_TRAIN, N_TEST, seed)
    validate(arrays, len(dataset.classes.names))
    assert set(np.bincount(arrays.train_y)) == {N_TRAIN // 10}
    assert set(np.bincount(arrays.test_y)) == {N_TEST // 10}
    fashion_mnist.save(out, arrays)
    for path in sorted(out.glob("*.gz")):
        print(f"{file_digest(path)}  {path.stat().st_size:8}  {path.name}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else ASSETS)
