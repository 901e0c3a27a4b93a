"""Tiles of different sizes as flat arrays: pixels are the samples, and their numbers stay the same for everyone.

`x` is uint8 (channels, P), `y` uint8 (P,), `sizes` int64 (tiles, 2) with P = sum of height · width. A flat array needs
no padding, and what knows samples by their number (noise, purity) needs to know nothing about tiles.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from warlab.common.files import digest
from warlab.data.base import Dataset
from warlab.errors import WarlabError

EIGHT = np.ones((3, 3), bool)  # pixels that touch at a corner belong together


@dataclass(frozen=True)
class Tile:
    """One tile: image uint8 (channels, H, W), labels uint8 (H, W), and its world file if it has one."""

    name: str
    image: np.ndarray
    labels: np.ndarray
    world: str = ""


@dataclass(frozen=True)
class TileArrays:
    train_x: np.ndarray
    train_y: np.ndarray
    train_sizes: np.ndarray
    test_x: np.ndarray
    test_y: np.ndarray
    test_sizes: np.ndarray


def flat(tiles: Sequence[Tile]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, y and sizes of the module's first lines."""
    x = np.concatenate([tile.image.reshape(len(tile.image), -1) for tile in tiles], axis=1)
    y = np.concatenate([tile.labels.reshape(-1) for tile in tiles])
    return x, y, np.array([tile.labels.shape for tile in tiles], np.int64)


def starts(sizes: np.ndarray) -> np.ndarray:
    """The number of each tile's first pixel, and the number of all pixels: (tiles + 1,)"""
    return np.concatenate([[0], np.cumsum(sizes.prod(1))])


def unflat(values: np.ndarray, sizes: np.ndarray) -> list[np.ndarray]:
    """Views (…, H, W) of a flat array (…, P), one per tile."""
    first = starts(sizes)
    if values.shape[-1] != first[-1]:
        raise WarlabError(f"{values.shape[-1]} pixels do not fill tiles of {first[-1]}; make the data anew.")
    return [
        values[..., first[i] : first[i + 1]].reshape(*values.shape[:-1], *size) for i, size in enumerate(sizes.tolist())
    ]


def objects(labels: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The number of each pixel's object (P,): a component of equal label (8-connectivity) inside one tile."""
    from scipy import ndimage  # the core of warlab has no scipy

    numbers, found = np.empty(labels.shape, np.int32), 0
    for tile, own in zip(unflat(labels, sizes), unflat(numbers, sizes), strict=True):
        for label in np.unique(tile):
            components, n = ndimage.label(tile == label, EIGHT)
            np.copyto(own, components + (found - 1), where=components > 0)
            found += n
    return numbers


def pooled(tile: Tile, factor: int) -> Tile:
    """Channels averaged over blocks of factor × factor; the label of a block is that of its middle pixel."""
    if factor == 1:
        return tile
    height, width = (side // factor * factor for side in tile.labels.shape)
    if 0 in (height, width):
        raise WarlabError(f"The tile {tile.name} is too small to be pooled by {factor}; take a smaller factor.")
    blocks = tile.image[:, :height, :width].reshape(-1, height // factor, factor, width // factor, factor)
    image = np.rint(blocks.mean((2, 4), dtype=np.float32)).astype(np.uint8)
    middle = tile.labels[factor // 2 : height : factor, factor // 2 : width : factor]
    return Tile(tile.name, image, middle, scaled_world(tile.world, factor))


def scaled_world(world: str, factor: int) -> str:
    """A world file (pixel sizes, turns, centre of the first pixel) for pixels that are `factor` times as wide."""
    if not world:
        return ""
    a, d, b, e, x, y = map(float, world.split())
    shift = (factor - 1) / 2
    values = (a * factor, d * factor, b * factor, e * factor, x + shift * (a + b), y + shift * (d + e))
    return "\n".join(f"{value:.10g}" for value in values) + "\n"


def prepare_tiles(dataset: Dataset, root: Path, spec: dict[str, Any]) -> tuple[TileArrays, dict[str, Any]]:
    """The tiles that a scale asks for; `train` and `test` count tiles, None takes all."""
    assert dataset.tiles is not None
    if spec.get("size") is not None:
        raise WarlabError(f"`size` is for images of one's own; {dataset.title} is made smaller by `pool`.")
    train, test = (_take(dataset, root, split, spec) for split in ("train", "test"))
    arrays = TileArrays(*flat(train), *flat(test))
    _check_classes(dataset, arrays)
    return arrays, _describe(dataset, train, test, arrays, spec)


def _take(dataset: Dataset, root: Path, split: str, spec: dict[str, Any]) -> list[Tile]:
    assert dataset.tiles is not None
    names, wanted = dataset.splits[split], spec.get(split)
    if wanted is not None and not 1 <= wanted <= len(names):
        raise WarlabError(f"{dataset.title} has {len(names)} {split} tiles, not {wanted}; choose 1 to {len(names)}.")
    return [pooled(dataset.tiles(root, name), spec.get("pool", 1)) for name in names[:wanted]]


def _check_classes(dataset: Dataset, arrays: TileArrays) -> None:
    """A class that no training pixel has cannot be learnt; clutter and its like may be missing."""
    counts = np.bincount(arrays.train_y, minlength=len(dataset.class_names))
    missing = [dataset.class_names[k] for k in dataset.scored if counts[k] == 0]
    if missing:
        raise WarlabError(f"No training pixel is {missing[0]}; take more training tiles.")


def _describe(
    dataset: Dataset, train: list[Tile], test: list[Tile], arrays: TileArrays, spec: dict[str, Any]
) -> dict[str, Any]:
    stand_in = spec["source"] == "stand_in"
    return {
        "dataset": dataset.name,
        "data": "stand-in" if stand_in else "real",
        "source": f"procedural tiles, a stand-in for {dataset.title}" if stand_in else f"{dataset.title}, own folder",
        "samples": dataset.samples,
        "class_names": list(dataset.class_names),
        "words": list(dataset.words),
        "scored": {dataset.class_names[k]: name for k, name in dataset.scored.items()},
        "colours": [list(colour) for colour in dataset.colours],
        "mean": list(dataset.mean),
        "std": list(dataset.std),
        "n_train": len(train),
        "n_test": len(test),
        "train_tiles": [tile.name for tile in train],
        "test_tiles": [tile.name for tile in test],
        "world": {tile.name: tile.world for tile in (*train, *test)},
        "shape": [len(arrays.train_x), *_largest(arrays)],
        "sha256": {name: digest(array) for name, array in vars(arrays).items()},
        "licence": dataset.licence,
    }


def _largest(arrays: TileArrays) -> list[int]:
    return [int(side) for side in np.concatenate([arrays.train_sizes, arrays.test_sizes]).max(0)]
