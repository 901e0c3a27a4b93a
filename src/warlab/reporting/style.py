"""The look of all figures: sizes, colours of methods, and how figures are saved."""

import zlib
from collections.abc import Iterable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Literal

import matplotlib.style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from warlab.common.files import write_atomic
from warlab.ids import base_method

ASSETS = ("reporting/warlab.mplstyle",)  # part of the fingerprint of every figure
STYLE = Path(__file__).with_name("warlab.mplstyle")
COLUMN = 3.5  # inches, one column of a two-column page
PAGE = 7.2  # inches, both columns

# Okabe and Ito, "Color Universal Design" (2008): distinct for all common kinds of colour blindness.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
CRIMSON = "#C8102E"  # for a class that is called red; not a method's colour
Dashes = Literal["-", "--", ":"] | tuple[int, tuple[int, ...]]
_OTHERS: tuple[Dashes, ...] = ((0, (6, 1)), (0, (3, 1, 1, 1, 1, 1)), (0, (1, 4)))  # not used by any method below

# Fixed, so that a method looks the same in every figure of every scale. There are more methods than colours: the WAR
# family has solid lines, the others differ by their dashes.
_METHODS: dict[str, tuple[str, Dashes]] = {
    "cce": (BLACK, "-"),
    "ar": (BLUE, "-"),
    "tv": (SKY, "-"),
    "war_01": (PURPLE, "-"),
    "war_w2v": (VERMILION, "-"),
    "war_embed": (GREEN, "-"),
    "war_random": (YELLOW, "-"),
    "backward": (BLUE, "--"),
    "forward": (SKY, "--"),
    "unhinged": (PURPLE, "--"),
    "bootsoft": (BLACK, "--"),
    "coteaching": (GREEN, "--"),
    "coteaching_plus": (ORANGE, "--"),
    "d2l": (BLUE, ":"),
    "sl": (SKY, ":"),
    "pencil": (ORANGE, "-"),
    "jocor": (GREEN, ":"),
    "gce": (PURPLE, ":"),
    "jof": (ORANGE, ":"),
    "iterative": (BLACK, ":"),
}
# The methods that keep their colours in a figure with many methods; the others are grey.
FAMILY = ("cce", "ar", "tv", "war_01", "war_w2v", "war_embed")
FEW = 4
GREY = "#AAAAAA"
_COLOURS = (BLUE, ORANGE, GREEN, SKY, PURPLE, VERMILION, BLACK)


def context() -> AbstractContextManager[None]:
    """The settings of warlab.mplstyle while a figure is drawn; the user's own settings come back afterwards."""
    return matplotlib.style.context(STYLE)


def line(method: str) -> tuple[str, Dashes]:
    """Return colour and dashes of a method. They are the same in all figures, also for methods that are not listed."""
    if method in _METHODS:
        return _METHODS[method]
    known, number = _METHODS.get(base_method(method)), zlib.crc32(method.encode())
    return known[0] if known else _COLOURS[number % len(_COLOURS)], _OTHERS[number % len(_OTHERS)]


def ink(colour: str) -> str:
    """Return a colour for text: light colours of the palette are darkened so that they can be read on white."""
    return {YELLOW: "#7A7000", SKY: "#1F78AD", ORANGE: "#9A6A00", PURPLE: "#A3487A"}.get(colour, colour)


def prominent(methods: Iterable[str]) -> list[str]:
    """Return the methods to draw in colour: all if there are few, or else CCE, AR and the variants of WAR."""
    distinct = list(dict.fromkeys(methods))
    family = [method for method in distinct if method in FAMILY]
    return distinct if len(distinct) <= FEW or not family else family


_FORMATS = {  # canvas, and the metadata to leave out: times and versions
    "pdf": (FigureCanvasPdf, {"CreationDate": None, "Creator": None, "Producer": None}),
    "svg": (FigureCanvasSVG, {"Date": None, "Creator": None}),
    "png": (FigureCanvasAgg, {"Software": None}),
}


def save(figure: Figure, stem: Path, endings: Iterable[str] = tuple(_FORMATS)) -> None:
    """Write <stem>.pdf, <stem>.svg and <stem>.png, without times or versions in the files."""
    for ending in endings:
        canvas, metadata = _FORMATS[ending]
        dpi = 200 if ending == "png" else None
        draw = partial(canvas(figure).print_figure, dpi=dpi, bbox_inches="tight", metadata=metadata)
        with context():
            write_atomic(stem.with_name(f"{stem.name}.{ending}"), draw)
