"""Tiles of different sizes as flat arrays, in which each pixel is a sample with a fixed index.

`x` is uint8 (channels, P), `y` uint8 (P,), `sizes` int64 (tiles, 2) with P = sum of height · width. A flat array needs
no padding, and code that refers to samples by index (noise, purity) needs to know nothing about tiles.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from warlab.errors import WarlabError

EIGHT = ((True,) * 3,) * 3  # pixels that touch at a corner belong together


@dataclass(frozen=True)
class Tile:
    """One tile: image uint8 (channels, H, W), labels uint8 (H, W), and its world file if it has one."""

    name: str
    image: np.ndarray
    labels: np.ndarray
    world: str = ""


def flat_arrays(train: Sequence[Tile], test: Sequence[Tile]) -> dict[str, np.ndarray]:
    """Return `x`, `y` and `sizes` of both splits: train_x, …, test_sizes."""
    arrays: dict[str, np.ndarray] = {}
    for split, tiles in (("train", train), ("test", test)):
        arrays[f"{split}_x"] = np.concatenate([tile.image.reshape(len(tile.image), -1) for tile in tiles], axis=1)
        arrays[f"{split}_y"] = np.concatenate([tile.labels.reshape(-1) for tile in tiles])
        arrays[f"{split}_sizes"] = np.array([tile.labels.shape for tile in tiles], np.int64)
    return arrays


def starts(sizes: np.ndarray) -> np.ndarray:
    """Return the index of each tile's first pixel, and the number of all pixels: (tiles + 1,)"""
    return np.concatenate([[0], np.cumsum(sizes.prod(1))])


def unflat(values: np.ndarray, sizes: np.ndarray) -> list[np.ndarray]:
    """Return views (…, H, W) of a flat array (…, P), one per tile."""
    first = starts(sizes)
    if values.shape[-1] != first[-1]:
        raise WarlabError(f"{values.shape[-1]} pixels do not fill tiles of {first[-1]}; prepare the data again.")
    return [
        values[..., first[i] : first[i + 1]].reshape(*values.shape[:-1], *size) for i, size in enumerate(sizes.tolist())
    ]


def objects(labels: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the number of each pixel's object (P,): a component of equal label (8-connectivity) inside one tile."""
    from scipy import ndimage  # the core of warlab works without SciPy

    numbers, total = np.empty(labels.shape, np.int32), 0
    for tile, numbers_of_tile in zip(unflat(labels, sizes), unflat(numbers, sizes), strict=True):
        for label in np.unique(tile):
            components, n = ndimage.label(tile == label, EIGHT)
            np.copyto(numbers_of_tile, components + (total - 1), where=components > 0)
            total += n
    return numbers


def pooled(tile: Tile, factor: int) -> Tile:
    """Average channels over blocks of factor × factor; the label of a block is that of its middle pixel."""
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
    """Return a world file (pixel sizes, turns, centre of the first pixel) for pixels `factor` times as wide."""
    if not world:
        return ""
    a, d, b, e, x, y = map(float, world.split())
    shift = (factor - 1) / 2
    values = (a * factor, d * factor, b * factor, e * factor, x + shift * (a + b), y + shift * (d + e))
    return "\n".join(f"{value:.10g}" for value in values) + "\n"
