"""GeoTIFF files as geographic software writes them."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import tifffile

from tests.helpers.tiles import drawn_tile


def write_raster(
    path: Path,
    bands: np.ndarray,
    layout: str = "separate",
    place: tuple[float, float] | None = None,
    point: bool = False,
) -> None:
    """Write (bands, H, W) as GDAL does; a pixel is half a metre wide."""
    keys = (1, 1, 0, 1, 1025, 0, 1, 2 if point else 1)
    tags = [
        (33550, "d", 3, (0.5, 0.5, 0.0)),
        (33922, "d", 6, (0.0, 0.0, 0.0, *(place or ()), 0.0)),
        (34735, "H", 8, keys),
    ]
    pixels = (
        np.moveaxis(bands, 0, 2) if layout == "contig" and len(bands) > 1 else bands if len(bands) > 1 else bands[0]
    )
    tifffile.imwrite(
        path,
        pixels,
        photometric="minisblack",
        planarconfig=layout if len(bands) > 1 else None,
        extratags=[(*tag, True) for tag in tags] if place else [],
    )


def write_rasters(folder: Path, convert: Callable[[np.ndarray], np.ndarray]) -> dict[str, np.ndarray]:
    """Write fields of three classes as a user has them, four bands; return the images."""
    images = {}
    for split, name in (("train", "north"), ("train", "west"), ("test", "south")):
        tile = drawn_tile(name, 48, 64)
        images[name] = convert(tile.image[:4])
        for kind, bands in (("images", images[name]), ("labels", tile.labels[None] % 3)):
            (folder / split / kind).mkdir(parents=True, exist_ok=True)
            write_raster(folder / split / kind / f"{name}.tif", bands, place=(500.0, 900.0))
    (folder / "classes.txt").write_text("wheat\ncorn\nbare soil: soil\n")
    return images
