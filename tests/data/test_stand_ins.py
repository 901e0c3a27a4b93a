"""The stand-in of every dataset of images can be learnt: a small network beats chance clearly after seconds."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

import warlab.data
from tests.helpers.artefacts import data_on_disk
from warlab import nets
from warlab.data.fetch import fetch
from warlab.data.formats.shards import Pack

NAMES = [name for name in warlab.data.names() if warlab.data.get(name).samples != "tiles"]
# more classes take longer, and so does the noise that the stand-in of Clothing1M has as the real one
STEPS = {"cifar100": 150, "imagenet32": 200, "clothing1m": 150}


def material(name: str, root: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Images and labels of both splits, small."""
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


def accuracy(train_x: np.ndarray, train_y: np.ndarray, test_x: np.ndarray, test_y: np.ndarray, steps: int) -> float:
    torch.manual_seed(0)
    net = nets.build("cnn6", train_x.shape[1], int(train_y.max()) + 1, width=0.25)
    optimiser = torch.optim.Adam(net.parameters(), 5e-3)
    x, shown = (torch.from_numpy(images / np.float32(64) - 2) for images in (train_x, test_x))
    for part in torch.randint(len(x), (steps, 60)):
        optimiser.zero_grad()
        cross_entropy(net(x[part]), torch.from_numpy(train_y)[part]).backward()
        optimiser.step()
    with torch.no_grad():
        return float((net.eval()(shown).argmax(1).numpy() == test_y).mean())


@pytest.mark.parametrize("name", NAMES)
def test_a_small_network_learns_the_stand_in(tmp_path: Path, name: str) -> None:
    train_x, train_y, test_x, test_y = material(name, tmp_path)
    chance = np.bincount(test_y).max() / len(test_y)
    found = accuracy(train_x, train_y, test_x, test_y, STEPS.get(name, 60))
    assert found > min(3 * chance, (1 + chance) / 2)
