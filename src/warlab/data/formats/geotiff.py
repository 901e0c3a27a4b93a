"""Rasters of geographic software: TIFF files with any number of bands of 8, 16 or 32 bits, and where they lie."""

import struct
from pathlib import Path

import numpy as np

from warlab.common.wording import for_terminal
from warlab.errors import WarlabError

SCALE, TIEPOINT, NO_DATA = 33550, 33922, 42113  # tags: size of a pixel, a pixel and its place, the value of no data
# what tifffile raises for tags that say something impossible
_LIMITS = (ArithmeticError, MemoryError, NotImplementedError)
DAMAGED = (OSError, ValueError, TypeError, LookupError, AttributeError, struct.error, *_LIMITS)
POINT = 2  # of the key GTRasterTypeGeoKey: a place is that of the middle of a pixel, not of its corner


def read_raster(path: Path) -> tuple[np.ndarray, str]:
    """Return the bands (bands, H, W), and the world file of the raster, "" if it does not say where it lies."""
    try:
        import tifffile
    except ImportError as error:
        raise WarlabError("Reading tiles of your own needs tifffile: pip install tifffile") from error
    try:
        with tifffile.TiffFile(path) as file:
            series, page = file.series[0], file.pages.first
            pixels, axes, tags = series.asarray(), series.axes, page.tags
            keys = page.geotiff_tags or {} if page.is_geotiff else {}
            scale, tiepoint, no_data = (tags.valueof(tag) for tag in (SCALE, TIEPOINT, NO_DATA))
            missing = float(str(no_data).strip("\0 ")) if no_data else np.nan
            world = _world(path, scale, tiepoint, keys.get("GTRasterTypeGeoKey") == POINT)
    except DAMAGED as error:
        install = "; pip install imagecodecs" if "imagecodecs" in str(error) else ""
        raise WarlabError(f"{for_terminal(path)} cannot be read as a TIFF file ({error}){install}.") from error
    if pixels.ndim not in (2, 3) or pixels.dtype.kind not in "uif" or 0 in pixels.shape:
        raise WarlabError(
            f"{for_terminal(path)} has {pixels.dtype} of shape {pixels.shape}; save one raster with bands of numbers."
        )
    bands = pixels[None] if pixels.ndim == 2 else np.moveaxis(pixels, axes.index("Y"), 1)
    if axes[:2] == "YX" and pixels.ndim == 3:
        bands = np.moveaxis(pixels, 2, 0)
    if not np.isfinite(bands).all() or (bands == missing).any():
        raise WarlabError(f"{for_terminal(path)} has pixels without data; fill them or cut them off.")
    return np.ascontiguousarray(bands), world


def _world(path: Path, scale: tuple[float, ...] | None, tiepoint: tuple[float, ...] | None, middle: bool) -> str:
    """Return sizes, turns and the middle of the first pixel, one number in a line."""
    beside = path.with_suffix(".tfw")
    if not scale or not tiepoint:
        return beside.read_text() if beside.is_file() else ""
    (width, height), (column, row, _, x, y) = scale[:2], tiepoint[:5]
    half = 0.0 if middle else 0.5
    numbers = (width, 0, 0, -height, x + (half - column) * width, y - (half - row) * height)
    return "\n".join(f"{number:.10g}" for number in numbers) + "\n"


def stretched(bands: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return bands as bytes: `low` and less of a band becomes 0, `high` and more 255."""
    span = np.maximum(high - low, np.finfo(np.float32).tiny)
    share = (bands - low[:, None, None]) / span[:, None, None]
    return np.rint(255 * share.clip(0, 1)).astype(np.uint8)
