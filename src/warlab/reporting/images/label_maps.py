"""Label maps as pictures in the colours of their dataset, with a world file where the tile has a place on earth."""

from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from warlab.common.files import write_atomic, write_text
from warlab.data.formats.flat_tiles import unflat
from warlab.reporting.read.artefacts import DataMeta

STAND_IN = "procedural_tiles_"  # begins the name of every map that was not made from real tiles


def coloured(labels: np.ndarray, meta: DataMeta) -> np.ndarray:
    """(H, W) classes → (H, W, 3) uint8"""
    return np.array(meta["colours"], np.uint8)[labels]


def write_maps(folder: Path, flat: np.ndarray, sizes: np.ndarray, split: str, meta: DataMeta) -> None:
    """<folder>/area12.png and its world file area12.pgw, which geographic software reads with it, for every tile."""
    prefix = STAND_IN if meta["data"] == "stand-in" else ""
    names = meta["train_tiles"] if split == "train" else meta["test_tiles"]
    note = PngInfo()
    note.add_text("Source", meta["source"])
    for name, labels in zip(names, unflat(flat, sizes), strict=True):
        path, image = folder / f"{prefix}area{name}.png", Image.fromarray(coloured(labels, meta))
        write_atomic(path, partial(image.save, format="PNG", pnginfo=note, optimize=True))
        if world := meta["world"].get(name):
            write_text(path.with_suffix(".pgw"), world)
