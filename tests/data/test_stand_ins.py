"""The stand-in of every dataset of images can be learnt, and related classes look alike."""

from pathlib import Path

import numpy as np
import pytest

import warlab.data
from tests.helpers.artefacts import data_on_disk
from warlab.data.fetch import fetch
from warlab.data.formats.shards import Pack
from warlab.data.sets import _cifar100_names, cifar10

NAMES = [name for name in warlab.data.names() if warlab.data.get(name).samples not in ("tiles", "vectors")]
GROUPS = {
    "fashion_mnist": [0, 1, 2, 3, 2, 4, 2, 5, 6, 7],  # pullover, coat and shirt
    "cifar10": cifar10.GROUPS,
    "cifar100": [_cifar100_names.superclass_of(name) for name in _cifar100_names.NAMES],
}


def load_stand_in(name: str, root: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return images and labels of both splits, small."""
    dataset = warlab.data.get(name)
    assert fetch(dataset, root, "stand_in")["data"] == "stand-in"
    pool = 16 if dataset.samples == "stored" else 2
    arrays, meta = data_on_disk(dataset.prepare(root, {"source": "stand_in", "pool": pool}))
    assert meta["data"] == "stand-in"
    if dataset.samples == "images":
        return arrays.train_x, arrays.train_y, arrays.test_x, arrays.test_y
    images = Pack(Path(meta["shards"]))
    train, test = (np.stack([images[int(i)] for i in numbers]) for numbers in (arrays.train_i, arrays.test_i))
    return train, arrays.train_y, test, arrays.test_y


def nearest_centroid(train_x: np.ndarray, train_y: np.ndarray, test_x: np.ndarray) -> np.ndarray:
    train, test = (images.reshape(len(images), -1).astype(float) for images in (train_x, test_x))
    centroids = np.stack([train[train_y == label].mean(0) for label in range(train_y.max() + 1)])
    return ((centroids**2).sum(1) - 2 * test @ centroids.T).argmin(1)


@pytest.mark.parametrize("name", NAMES)
def test_a_stand_in_can_be_learnt_and_confuses_related_classes(tmp_path: Path, name: str) -> None:
    train_x, train_y, test_x, test_y = load_stand_in(name, tmp_path)
    predicted, chance = nearest_centroid(train_x, train_y, test_x), np.bincount(test_y).max() / len(test_y)
    right = predicted == test_y
    assert min(3 * chance, (1 + chance) / 2) < right.mean() < 0.99
    if name in GROUPS:
        _, groups = np.unique(GROUPS[name], return_inverse=True)
        assert (groups[predicted] == groups[test_y]).mean() > right.mean() + 0.3 * (~right).mean()


def test_the_embedded_images_are_as_hard_as_the_full_set(tmp_path: Path) -> None:
    dataset = warlab.data.get("fashion_mnist")
    fetch(dataset, tmp_path, "embedded")
    arrays = dataset.load(tmp_path)
    accuracy = (nearest_centroid(arrays.train_x, arrays.train_y, arrays.test_x) == arrays.test_y).mean()
    assert 0.6 < accuracy < 0.75  # about 0.68 on the full set
