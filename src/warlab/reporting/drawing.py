"""Drawing that several figures share: panels, lines with bands, and names next to lines and points."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from warlab.reporting import style
from warlab.reporting.tables.labels import Labels, plot_method

MAX_COLUMNS = 3
NAME_SIZE = 6.0  # points


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


def curve(ax: Axes, rows: pd.DataFrame, column: str, method: str, labels: Labels) -> Mark:
    """Draw the mean over the seeds of one method by epoch, with a band from the lowest to the highest seed. Return the
    name for its end."""
    seeds = rows.pivot_table(index="epoch", columns="seed", values=column)
    epochs, mean = seeds.index.to_numpy(dtype=float), seeds.mean(axis=1)
    colour, dashes = style.line(method)
    ax.plot(epochs, mean, color=colour, linestyle=dashes)
    if seeds.shape[1] > 1:
        ax.fill_between(epochs, seeds.min(axis=1), seeds.max(axis=1), color=colour, alpha=0.18, linewidth=0)
    return Mark(1, float(mean.iloc[-1]), plot_method(labels, method), style.ink(colour))


def epochs_axis(ax: Axes, last: float) -> None:
    ax.set_xlabel("epoch")
    ax.set_xlim(1, max(2, last))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def name_ends(ax: Axes, marks: Iterable[Mark], gap: float = 0.065) -> None:
    """Write names at the right edge, as near to the ends of their lines as possible. The limits must be set before."""
    marks = list(marks)
    low, high = ax.get_ylim()
    heights = spread([min(max(mark.y, low), high) for mark in marks], gap * (high - low))
    for mark, height in zip(marks, heights, strict=True):
        at_edge = ("axes fraction", "data")
        text = ax.annotate(mark.name, (1, height), (3, 0), at_edge, "offset points", annotation_clip=False)
        text.set(color=mark.colour, fontsize=7, va="center")


# Places of a name next to its point: the offset of its lower left corner, in widths and heights of the name.
_PLACES = [(0.0, -0.5), (-1.0, -0.5), (-0.5, 0.4), (-0.5, -1.4), (0.0, 0.3), (0.0, -1.3), (-1.0, 0.3), (-1.0, -1.3)]
_PLACES += [(0.0, 1.2), (0.0, -2.2), (-1.0, 1.2), (-1.0, -2.2), (0.0, 2.1), (0.0, -3.1), (-0.5, 3.0), (-0.5, -4.0)]


def inches(ax: Axes) -> tuple[float, float]:
    """Estimate the width and height of a plot without its labels, before the layout of the figure is known."""
    figure, place = ax.get_figure(root=True), ax.get_subplotspec()
    assert figure is not None and place is not None
    rows, columns = place.get_gridspec().get_geometry()
    width, height = figure.get_size_inches()
    return width * len(place.colspan) / columns - 0.6, height * len(place.rowspan) / rows - 0.8


def name_points(ax: Axes, marks: Sequence[Mark]) -> None:
    """Write a name next to each point, in the place where it overlaps least."""
    width, height = inches(ax)
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    at = [((m.x - left) / (right - left) * 72 * width, (m.y - low) / (high - low) * 72 * height) for m in marks]
    taken = [(x - 3, y - 3, x + 3, y + 3) for x, y in at]
    for mark, (x, y) in zip(marks, at, strict=True):
        wide, tall = 0.58 * NAME_SIZE * (mark.length or len(mark.name)), 1.1 * NAME_SIZE
        best = min((_box(x, y, wide, tall, *place) for place in _PLACES), key=lambda box: _covered(box, taken, width))
        taken.append(best)
        offset = (best[0] - x, best[1] - y)
        text = ax.annotate(mark.name, (mark.x, mark.y), offset, textcoords="offset points")
        text.set(color=mark.colour, fontsize=NAME_SIZE, va="bottom")


def _box(x: float, y: float, wide: float, tall: float, right: float, up: float) -> tuple[float, float, float, float]:
    aside = 4 if right == 0 else -4 if right == -1 else 0
    left, bottom = x + right * wide + aside, y + up * tall + (2 if up > 0 else -2 if up < -0.5 else 0)
    return left, bottom, left + wide, bottom + tall


def _covered(box: tuple[float, ...], taken: Iterable[tuple[float, ...]], width: float) -> float:
    """Return the area that overlaps with `taken`, plus a penalty for what lies outside the plot."""
    shared = sum(
        max(0.0, min(box[2], other[2]) - max(box[0], other[0]))
        * max(0.0, min(box[3], other[3]) - max(box[1], other[1]))
        for other in taken
    )
    return shared + 10 * max(0.0, -box[0]) + 10 * max(0.0, box[2] - 72 * width)
