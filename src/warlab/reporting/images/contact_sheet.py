"""The contact sheet of an audit: the first suspects as one image, with rank, place, given and suggested label."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import numpy as np
from PIL import Image, ImageDraw, ImageFont
from PIL.PngImagePlugin import PngInfo

from warlab.common.files import write_atomic

MOST = 24
COLUMNS = 6
SIDE, GAP, LINE, TOP = 180, 20, 20, 64  # pixels
INK, QUIET, KNOWN, RED = "#1a1a1a", "#666666", "#D55E00", "#B00020"


@dataclass(frozen=True)
class Suspect:
    """An image (channels, height, width) in uint8, its file or number, and its labels; `known`: known to be wrong."""

    picture: np.ndarray
    place: str
    label: str
    suggested: str
    known: bool = False


def write_sheet(path: Path, suspects: Sequence[Suspect], title: str, warning: str = "") -> None:
    """Write a PNG; `warning` is printed in red below the title, for example that the data are a stand-in."""
    note = PngInfo()
    note.add_text("Title", title)
    sheet = draw_sheet(suspects, title, warning)
    write_atomic(path, lambda file: sheet.save(file, "PNG", pnginfo=note, optimize=True))


def draw_sheet(suspects: Sequence[Suspect], title: str, warning: str = "") -> Image.Image:
    suspects = suspects[:MOST]
    rows = max(1, -(-len(suspects) // COLUMNS))
    height = SIDE + 3 * LINE + GAP
    sheet = Image.new("RGB", (COLUMNS * (SIDE + GAP) + GAP, TOP + rows * height), "white")
    pen = ImageDraw.Draw(sheet)
    title += " (framed: known to be wrong)" if any(one.known for one in suspects) else ""
    wide = sheet.width - 2 * GAP
    font = next((font for font in map(_font, (18, 16, 14)) if font.getlength(title) <= wide), _font(14))
    pen.text((GAP, 8), _shorten(title, wide, font), INK, font)
    below = warning or ("" if suspects else "The network agrees with all labels.")
    pen.text((GAP, 34), _shorten(below, wide, _font(15)), RED if warning else QUIET, _font(15))
    for place, suspect in enumerate(suspects):
        row, column = divmod(place, COLUMNS)
        _paste(sheet, pen, suspect, place + 1, GAP + column * (SIDE + GAP), TOP + row * height)
    return sheet


def _paste(sheet: Image.Image, pen: ImageDraw.ImageDraw, suspect: Suspect, rank: int, left: int, top: int) -> None:
    image = _enlarge(suspect.picture)
    sheet.paste(image, (left + (SIDE - image.width) // 2, top + (SIDE - image.height) // 2))
    if suspect.known:
        pen.rectangle((left - 2, top - 2, left + SIDE + 1, top + SIDE + 1), outline=KNOWN, width=2)
    font, width, words = _font(15), SIDE + GAP - 6, f"{rank}. "
    name = _shorten(suspect.place[::-1], int(width - font.getlength(words)), font)[::-1]  # the end tells files apart
    lines = ((words + name, QUIET), (suspect.label, QUIET), (f"→ {suspect.suggested}", INK))
    for line, (text, colour) in enumerate(lines):
        pen.text((left, top + SIDE + 2 + line * LINE), _shorten(text, width, font), colour, font)


def _enlarge(picture: np.ndarray) -> Image.Image:
    """Scale an image to the square of a suspect, without smoothing if it becomes larger; use at most three channels."""
    channels = picture[:3] if len(picture) >= 3 else np.repeat(picture[:1], 3, axis=0)
    image = Image.fromarray(np.ascontiguousarray(channels.transpose(1, 2, 0)))
    scale = SIDE / max(image.size)
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    return image.resize(size, Image.Resampling.NEAREST if scale > 1 else Image.Resampling.BOX)


def _font(size: int) -> ImageFont.FreeTypeFont:
    """Return the font of the figures, which comes with matplotlib."""
    return ImageFont.truetype(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf", size)


def _shorten(text: str, width: int, font: ImageFont.FreeTypeFont) -> str:
    """Cut a text to this width in pixels, with an ellipsis."""
    if font.getlength(text) <= width:
        return text
    while text and font.getlength(f"{text}…") > width:
        text = text[:-1]
    return f"{text}…"
