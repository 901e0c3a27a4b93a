"""Label maps as images in the colours of their dataset, with a world file if the tile is georeferenced."""

from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from warlab.artefacts.labelled_data import DataDescription
from warlab.common.files import write_atomic, write_text
from warlab.data.formats.flat_tiles import unflat

STAND_IN = "procedural_tiles_"  # prefix of the names of maps that were not made from real tiles


def colour_labels(labels: np.ndarray, about: DataDescription) -> np.ndarray:
    """Return classes (H, W) as an image (H, W, 3) in uint8."""
    return np.array(about.colours, np.uint8)[labels]


def write_maps(folder: Path, flat: np.ndarray, sizes: np.ndarray, split: str, about: DataDescription) -> None:
    """Write <folder>/area12.png for every tile, and its world file area12.pgw, which geographic software reads."""
    prefix = STAND_IN if about.data == "stand-in" else ""
    names = about.train_tiles if split == "train" else about.test_tiles
    note = PngInfo()
    note.add_text("Source", about.source)
    for name, labels in zip(names, unflat(flat, sizes), strict=True):
        path, image = folder / f"{prefix}area{name}.png", Image.fromarray(colour_labels(labels, about))
        write_atomic(path, partial(image.save, format="PNG", pnginfo=note, optimize=True))
        if world := about.world.get(name):
            write_text(path.with_suffix(".pgw"), world)
