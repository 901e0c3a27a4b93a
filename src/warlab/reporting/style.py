"""The look of all figures: sizes, colours of methods, panels, lines with their names, and how figures are saved."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from itertools import product
from pathlib import Path
from statistics import median
from typing import Literal, NamedTuple

import matplotlib.style
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from warlab.common.files import write_atomic
from warlab.common.wording import several
from warlab.ids import base_method
from warlab.reporting.names import Labels, plot_method
from warlab.reporting.read.curves import Curve

ASSETS = ("reporting/warlab.mplstyle",)  # part of the digest of every figure
STYLE = Path(__file__).with_name("warlab.mplstyle")
COLUMN = 3.5  # inches, one column of a two-column page
PAGE = 7.2  # inches, both columns
MAX_COLUMNS = 3  # of panels

# Okabe and Ito, "Color Universal Design" (2008): distinct for all common kinds of colour blindness.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
CRIMSON = "#C8102E"  # for a class that is called red; not a method's colour
Dashes = Literal["-", "--", ":"] | tuple[int, tuple[int, ...]]
Look = tuple[str, Dashes]  # colour and dashes
_OTHERS: tuple[Dashes, ...] = ((0, (6, 1)), (0, (3, 1, 1, 1, 1, 1)), (0, (1, 4)))  # not used by any method below

# Fixed, so that a method looks the same in every figure of every scale. There are more methods than colours: the WAR
# family has solid lines, the others differ by their dashes.
_METHODS: dict[str, Look] = {
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
VARIANTS = ("war_w2v", "war_embed", "war_01")  # of WAR, that of the paper's main table first
FAMILY = ("cce", "ar", "tv", *VARIANTS)
FEW = 5  # methods that can all be in colour
GREY = "#AAAAAA"
_COLOURS = (BLUE, ORANGE, GREEN, SKY, PURPLE, VERMILION, BLACK)


def context() -> AbstractContextManager[None]:
    """Return a context with the settings of warlab.mplstyle; the user's own settings come back afterwards."""
    return matplotlib.style.context(STYLE)


def looks(methods: Iterable[str]) -> dict[str, Look]:
    """Return the look of each method of a study and of its base. Those that are not listed above get the free looks in
    the order of the study: colours first, then dashes. A method with changed settings has the colour of its base."""
    distinct = list(dict.fromkeys(methods))
    dealt = dict(_METHODS)
    free = [(colour, dashes) for dashes, colour in product((*_OTHERS, "--", ":"), _COLOURS)]
    for method in dict.fromkeys([*map(base_method, distinct), *distinct]):
        base = dealt.get(base_method(method))
        wanted = [(base[0], dashes) for dashes in _OTHERS] if base else []
        left = [look for look in [*wanted, *free] if look not in dealt.values()]
        dealt.setdefault(method, (left or free)[0])
    return dealt


def ink(colour: str) -> str:
    """Return a colour for text: light colours of the palette are darkened so that they can be read on white."""
    return {YELLOW: "#7A7000", SKY: "#1F78AD", ORANGE: "#9A6A00", PURPLE: "#A3487A"}.get(colour, colour)


def prominent(methods: Iterable[str]) -> list[str]:
    """Return the methods to draw in colour: all if there are few, or else CCE, AR and one variant of WAR."""
    distinct = list(dict.fromkeys(methods))
    chosen = [method for method in ("cce", "ar", leading_variant(distinct)) if method in distinct]
    return distinct if len(distinct) <= FEW or not chosen else chosen


def leading_variant(methods: Collection[str]) -> str:
    """Return the variant of WAR to show, that of the paper's main table if possible; "" if there is none."""
    variants = (*VARIANTS, *sorted(method for method in methods if method.startswith("war")))
    return next((method for method in variants if method in methods), "")


class Mark(NamedTuple):
    """A name, the point it belongs to, and its colour; `length` is the number of characters that are printed."""

    x: float
    y: float
    name: str
    colour: str
    length: int = 0


def panels(figure: Figure, count: int, most: int = MAX_COLUMNS) -> list[list[Axes]]:
    """Return rows of axes that fill the width. Their lengths differ by at most one, and the longer rows come first."""
    rows = [len(row) for row in np.array_split(range(count), -(-count // most))]
    parts = math.lcm(*rows)
    grid = figure.add_gridspec(len(rows), parts)
    return [
        [figure.add_subplot(grid[row, k * parts // n : (k + 1) * parts // n]) for k in range(n)]
        for row, n in enumerate(rows)
    ]


def spread(values: Sequence[float], gap: float) -> list[float]:
    """Move values apart until neighbours have a distance of `gap`; their order and their centre stay the same."""
    order = np.argsort(values, kind="stable")
    placed = np.asarray(values, float)[order]
    for _ in range(100):
        near = gap - np.diff(placed)
        if (near <= 1e-9).all():
            break
        push = np.clip(near, 0, None) / 2
        placed[:-1] -= push
        placed[1:] += push
    moved = np.empty(len(placed))
    moved[order] = placed
    return moved.tolist()


def draw_curve(ax: Axes, curve: Curve, labels: Labels, looks: Mapping[str, Look]) -> Mark:
    """Draw a learning curve with a band from the lowest to the highest seed. Return the name for its end."""
    colour, dashes = looks[curve.method]
    ax.plot(curve.epochs, curve.mean, color=colour, linestyle=dashes)
    if curve.seeds > 1:
        ax.fill_between(curve.epochs, curve.low, curve.high, color=colour, alpha=0.18, linewidth=0)
    return Mark(1, curve.mean[-1], plot_method(labels, curve.method), ink(colour))


def draw_curves(ax: Axes, curves: Sequence[Curve], labels: Labels, looks: Mapping[str, Look]) -> list[Mark]:
    """Draw grey lines below those of prominent methods. Return the names for their ends, in the order of the table."""
    bright = prominent(curve.method for curve in curves)
    ends = [draw_curve(ax, curve, labels, looks) for curve in curves if curve.method in bright]
    grey = [curve for curve in curves if curve.method not in bright]
    for curve in grey:
        ax.plot(curve.epochs, curve.mean, color=GREY, linewidth=0.7, zorder=1.5)
    if grey:
        ends.append(Mark(1, median(curve.mean[-1] for curve in grey), several(len(grey), "other"), "#777777"))
    return ends


def value_range(curves: Sequence[Curve]) -> tuple[float, float]:
    """Return the lowest and highest value that is drawn: all seeds of prominent methods, the means of the others."""
    bright = prominent(curve.method for curve in curves)
    drawn = [(*curve.low, *curve.high) if curve.method in bright else curve.mean for curve in curves]
    return min(map(min, drawn)), max(map(max, drawn))


def widen(limits: tuple[float, float], least: float) -> tuple[float, float]:
    """Return limits around the same middle that are `least` apart or further."""
    low, high = limits
    spare = max(0.0, least - (high - low)) / 2
    return low - spare, high + spare


def draw_epochs(ax: Axes, ends: Iterable[Mark], rows: pd.DataFrame) -> None:
    """Draw the axis of the epochs and name the lines at their ends. The limits of the values must be set before."""
    ax.set_xlabel("epoch")
    ax.set_xlim(1, max(2, rows["epoch"].max()))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    name_ends(ax, ends)


def name_ends(ax: Axes, marks: Iterable[Mark], gap: float = 0.065) -> None:
    """Write names at the right edge, as near to the ends of their lines as possible, and keep the limits."""
    marks = list(marks)
    low, high = ax.set_ylim(*ax.get_ylim())
    heights = spread([min(max(mark.y, low), high) for mark in marks], gap * (high - low))
    for mark, height in zip(marks, heights, strict=True):
        at_edge = ("axes fraction", "data")
        text = ax.annotate(mark.name, (1, height), (3, 0), at_edge, "offset points", annotation_clip=False)
        text.set(color=mark.colour, fontsize=7, va="center")


def inches(ax: Axes) -> tuple[float, float]:
    """Estimate the width and height of a plot without its labels, before the layout of the figure is known."""
    figure, place = ax.get_figure(root=True), ax.get_subplotspec()
    assert figure is not None and place is not None
    rows, columns = place.get_gridspec().get_geometry()
    width, height = figure.get_size_inches()
    return width * len(place.colspan) / columns - 0.6, height * len(place.rowspan) / rows - 0.8


_METADATA: dict[str, dict[str, None]] = {  # by format: the times and versions to leave out
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
}


def save(figure: Figure, stem: Path, endings: Iterable[str] = tuple(_METADATA)) -> None:
    """Write <stem>.pdf, <stem>.svg and <stem>.png, without times or versions in the files."""
    for ending in endings:
        dpi = 200 if ending == "png" else "figure"
        draw = partial(figure.savefig, format=ending, dpi=dpi, bbox_inches="tight", metadata=_METADATA[ending])
        with context():
            write_atomic(stem.with_name(f"{stem.name}.{ending}"), draw)
