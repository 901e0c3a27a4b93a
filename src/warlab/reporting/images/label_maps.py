"""Label maps as pictures in the colours of their data set, beside a world file where the tile has a place on earth."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from warlab.common.files import write_atomic, write_text
from warlab.data.formats.tiles import unflat

STAND_IN = "procedural_tiles_"  # begins the name of every map that was not made from real tiles


def coloured(labels: np.ndarray, meta: Mapping[str, Any]) -> np.ndarray:
    """(H, W) classes → (H, W, 3) uint8"""
    return np.array(meta["colours"], np.uint8)[labels]


def write_maps(folder: Path, flat: np.ndarray, sizes: np.ndarray, split: str, meta: Mapping[str, Any]) -> list[Path]:
    """<folder>/area12.png and its world file area12.pgw, which geographic software reads with it, for every tile."""
    prefix = STAND_IN if meta["data"] == "stand-in" else ""
    written = []
    for name, labels in zip(meta[f"{split}_tiles"], unflat(flat, sizes), strict=True):
        path = folder / f"{prefix}area{name}.png"
        _write(path, coloured(labels, meta), meta["source"])
        if world := meta["world"].get(name):
            write_text(path.with_suffix(".pgw"), world)
        written.append(path)
    return written


def _write(path: Path, pixels: np.ndarray, source: str) -> None:
    note = PngInfo()
    note.add_text("Source", source)
    write_atomic(path, lambda file: Image.fromarray(pixels).save(file, "PNG", pnginfo=note, optimize=True))
