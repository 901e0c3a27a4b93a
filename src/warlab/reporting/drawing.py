"""What several figures share: panels that fill their rows, lines with bands, and names next to lines and points."""

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


class Mark(NamedTuple):
    """A name to write, where it belongs, and in which colour; `length` is its number of characters as printed."""

    x: float
    y: float
    name: str
    colour: str
    length: int = 0


def panels(figure: Figure, count: int, most: int = MAX_COLUMNS) -> list[list[Axes]]:
    """Rows of axes that all reach over the whole width; as equal in number as it goes, the longer rows first."""
    rows = [len(row) for row in np.array_split(range(count), -(-count // most))]
    parts = math.lcm(*rows)
    grid = figure.add_gridspec(len(rows), parts)
    return [
        [figure.add_subplot(grid[row, k * parts // n : (k + 1) * parts // n]) for k in range(n)]
        for row, n in enumerate(rows)
    ]


def spread(values: Sequence[float], gap: float) -> list[float]:
    """The values moved apart until neighbours are `gap` apart, in the same order and around the same middle."""
    order = np.argsort(values, kind="stable")
    placed = np.asarray(values, float)[order]
    for _ in range(100):
        near = gap - np.diff(placed)
        if (near <= 1e-9).all():
            break
        push = np.clip(near, 0, None) / 2
        placed[:-1] -= push
        placed[1:] += push
    found = np.empty(len(placed))
    found[order] = placed
    return found.tolist()


def curve(ax: Axes, rows: pd.DataFrame, column: str, method: str, labels: Labels) -> Mark:
    """The mean over the seeds of one method by epoch, with a band from the lowest to the highest seed; its end."""
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
    """Names at the right edge, at the height of the lines' ends or as near to it as fits; the limits must be set."""
    marks = list(marks)
    low, high = ax.get_ylim()
    heights = spread([min(max(mark.y, low), high) for mark in marks], gap * (high - low))
    for mark, height in zip(marks, heights, strict=True):
        at_edge = ("axes fraction", "data")
        text = ax.annotate(mark.name, (1, height), (3, 0), at_edge, "offset points", annotation_clip=False)
        text.set(color=mark.colour, fontsize=7, va="center")


# Where a name may stand next to its point, in widths and heights of itself from its lower left corner.
_PLACES = [(0.0, -0.5), (-1.0, -0.5), (-0.5, 0.4), (-0.5, -1.4), (0.0, 0.3), (0.0, -1.3), (-1.0, 0.3), (-1.0, -1.3)]
_PLACES += [(0.0, 1.2), (0.0, -2.2), (-1.0, 1.2), (-1.0, -2.2), (0.0, 2.1), (0.0, -3.1), (-0.5, 3.0), (-0.5, -4.0)]


def inches(ax: Axes) -> tuple[float, float]:
    """About how wide and high the plot is, without its labels, before the figure is laid out."""
    figure, place = ax.get_figure(root=True), ax.get_subplotspec()
    assert figure is not None and place is not None
    rows, columns = place.get_gridspec().get_geometry()
    width, height = figure.get_size_inches()
    return width * len(place.colspan) / columns - 0.6, height * len(place.rowspan) / rows - 0.8


def name_points(ax: Axes, marks: Sequence[Mark], size: float = 6.0) -> None:
    """A name next to each point, where it covers least."""
    width, height = inches(ax)
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    at = [((m.x - left) / (right - left) * 72 * width, (m.y - low) / (high - low) * 72 * height) for m in marks]
    taken = [(x - 3, y - 3, x + 3, y + 3) for x, y in at]
    for mark, (x, y) in zip(marks, at, strict=True):
        wide, tall = 0.58 * size * (mark.length or len(mark.name)), 1.1 * size
        best = min((_box(x, y, wide, tall, *place) for place in _PLACES), key=lambda box: _covered(box, taken, width))
        taken.append(best)
        offset = (best[0] - x, best[1] - y)
        text = ax.annotate(mark.name, (mark.x, mark.y), offset, textcoords="offset points")
        text.set(color=mark.colour, fontsize=size, va="bottom")


def _box(x: float, y: float, wide: float, tall: float, right: float, up: float) -> tuple[float, float, float, float]:
    aside = 4 if right == 0 else -4 if right == -1 else 0
    left, bottom = x + right * wide + aside, y + up * tall + (2 if up > 0 else -2 if up < -0.5 else 0)
    return left, bottom, left + wide, bottom + tall


def _covered(box: tuple[float, ...], taken: Iterable[tuple[float, ...]], width: float) -> float:
    """The area shared with what is there already, and what would stick out at the sides."""
    shared = sum(
        max(0.0, min(box[2], other[2]) - max(box[0], other[0]))
        * max(0.0, min(box[3], other[3]) - max(box[1], other[1]))
        for other in taken
    )
    return shared + 10 * max(0.0, -box[0]) + 10 * max(0.0, box[2] - 72 * width)
