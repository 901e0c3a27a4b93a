"""Small tiles for the tests of segmentation: files as the workflow writes them, with learnable objects."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.helpers.runs import study
from warlab.artefacts.ground_cost import matrix_text
from warlab.artefacts.labelled_data import DataDescription, PreparedData
from warlab.common.files import write_text
from warlab.common.seeds import derive_seed
from warlab.data.formats.flat_tiles import Tile, flat_arrays
from warlab.data.sets import vaihingen
from warlab.engine.build import RunFiles
from warlab.noise import make_noise
from warlab.noise.kinds.base import NoiseRequest

NAMES = list(vaihingen.DATASET.classes.names)
SIZES = ((48, 64), (56, 40), (40, 72))


def drawn_tile(name: str, height: int, width: int) -> Tile:
    """Draw squares of every class on low vegetation; channel k is bright where class k is."""
    rng = np.random.default_rng(derive_seed("drawn tile", name, height, width))
    labels = np.full((height, width), 2, np.uint8)
    for number in range(24):
        top, left = rng.integers(0, height - 7), rng.integers(0, width - 7)
        labels[top : top + 7, left : left + 7] = (0, 1, 3, 4, 5)[number % 5]
    bright = (labels == np.arange(5)[:, None, None]) * 150 + rng.integers(0, 80, (5, height, width))
    return Tile(name, bright.astype(np.uint8), labels, "0.4\n0\n0\n-0.4\n0\n0\n")


def description(data: str = "stand-in") -> dict[str, Any]:
    own = vaihingen.DATASET
    return {
        "dataset": "vaihingen",
        "data": data,
        "source": "procedural tiles, a procedural stand-in for ISPRS Vaihingen" if data == "stand-in" else "owners",
        "samples": "tiles",
        "class_names": NAMES,
        "words": NAMES,
        "sha256": {},
        "scored": {NAMES[label]: metric for label, metric in own.scored.items()},
        "colours": [list(colour) for colour in own.classes.colours],
        "mean": [0.3] * 5,
        "std": [0.3] * 5,
        "train_tiles": ["1", "3"],
        "test_tiles": ["12"],
        "world": {"12": "0.4\n0\n0\n-0.4\n0\n0\n"},
        "n_train": 2,
        "n_test": 1,
        "shape": [5, 56, 72],
        "licence": "none",
    }


def arrays() -> Any:
    tiles = [drawn_tile(name, *size) for name, size in zip(("1", "3", "12"), SIZES, strict=True)]
    return SimpleNamespace(**flat_arrays(tiles[:2], tiles[2:]))


def wanted(noise: str = "objects-33", seed: int = 0) -> NoiseRequest:
    return NoiseRequest("vaihingen", noise, seed, NAMES, "stand-in", study().settings.noise(noise, "vaihingen"))


def write_tile_files(folder: Path, noise: str = "objects-33") -> RunFiles:
    content, data = arrays(), folder / "data.npz"
    PreparedData(DataDescription(**description()), vars(content)).save(data)
    make_noise(wanted(noise), vars(content), {}).save(folder / "noise.npz")
    write_text(folder / "cost.csv", matrix_text(0.5 * (1 - np.eye(6)), NAMES))
    return RunFiles(data, folder / "noise.npz", folder / "cost.csv")


def tile_run(method_id: str, epochs: int = 2, **settings: Any) -> dict[str, Any]:
    """Return a run of the smoke scale on these files."""
    own = study()
    training = {
        **own.settings.training("vaihingen"),
        "epochs": epochs,
        "patch": 32,
        "overlap": 12,
        "steps": 3,
        "batch_size": 2,
    }
    return {
        "dataset": "vaihingen",
        "noise": "objects-33",
        "net": {"name": "unet", "settings": {"width": 0.0625, "dropout": 0.1}},
        "method": {
            "id": method_id,
            "file": own.numbers.method_file(method_id),
            "settings": {**own.settings.method(method_id, "vaihingen"), **settings},
        },
        "training": training,
        "seed": 0,
    }
