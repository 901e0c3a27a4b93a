"""Image files of users: any format that Pillow reads, upright, with 8 bits per channel."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from warlab.common.wording import for_terminal
from warlab.errors import WarlabError

_DEEP = {"I;16", "I;16B", "I;16L", "I;16N"}  # 16 bits, 0 to 65535
GREY = {"1", "L", "LA", *_DEEP}
_BOUNDLESS = {"I", "F"}  # 32 bits: the value of white is unknown


@contextmanager
def opened(path: Path, content: bytes | None = None) -> Iterator[Image.Image]:
    """Open the image at `path`, or the `content` that was read from there."""
    try:
        with Image.open(path if content is None else io.BytesIO(content)) as image:
            yield image
    except WarlabError:
        raise
    except Exception as error:  # damaged files raise anything
        raise WarlabError(f"{for_terminal(path)} cannot be read as an image; convert, repair or remove it.") from error


def upright(image: Image.Image, path: Path) -> Image.Image:
    """Return the image as it was seen, with 8 bits per channel."""
    if image.mode in _BOUNDLESS:
        raise WarlabError(
            f"{for_terminal(path)} has 32-bit pixels, whose white is unknown; save it with 8 or 16 bits per channel."
        )
    turned = ImageOps.exif_transpose(image)  # cameras store how they were held
    if turned.mode not in _DEEP:
        return turned
    return Image.fromarray(np.rint(np.asarray(turned, np.float64) / 257).astype(np.uint8))  # Pillow clips above 255


def read_square(path: Path, size: int, content: bytes | None = None) -> np.ndarray:
    """Return the whole image in colour, resized to uint8 (3, size, size)."""
    with opened(path, content) as image:
        image.draft("RGB", (size, size))  # decode a JPEG at about the size that is needed
        return to_square(upright(image, path), size)


def to_square(image: Image.Image, size: int) -> np.ndarray:
    resized = image.convert("RGB").resize((size, size), Image.Resampling.BILINEAR)
    return np.ascontiguousarray(np.asarray(resized).transpose(2, 0, 1))
