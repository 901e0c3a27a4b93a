"""Time of an epoch against test accuracy; the time is relative to CCE of the same setting, if that was run.

On CPUs it is processor time, as other processes may share the machine; a GPU is not shared.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.transforms import Bbox

from warlab.reporting import names, style
from warlab.reporting.figures.base import (
    Drawing,
    Inputs,
    NothingToDraw,
    complete_runs,
    draw_panels,
    mention_held_out,
)
from warlab.reporting.read import results
from warlab.reporting.read.results import ACCURACY, CELL, SETTING, Scenario
from warlab.reporting.stats import interval_over_seeds

TITLE = "Time against accuracy"
SECTION = "results"
NEEDS = ("runs",)
ASKS = {"together": 2, "column": "seconds"}
CLOCKS = {"processor_seconds": "processor time", "seconds": "time"}
QUIET = "#666666"
NAME_SIZE = 6.0  # points
LEAST_POINTS, LEAST_TIMES = 4.0, 0.5  # of an axis: a small difference must not fill a panel


def draw(inputs: Inputs) -> Drawing:
    def panel(ax: Axes, rows: pd.DataFrame, _setting: Scenario) -> None:
        """Draw the prominent methods in their colours above the grey ones, each with its name."""
        cce = rows.loc[rows["method"] == "cce", "seconds"]
        unit = float(cce.iloc[0]) if len(cce) else 1.0
        bright, marks = style.prominent(rows["method"]), []
        columns = ["method", "seconds", ACCURACY, "reach"]
        for method, seconds, y, reach in rows[columns].itertuples(index=False):
            x, colour = seconds / unit, inputs.looks[method][0] if method in bright else style.GREY
            order = 3 if method in bright else 2
            ax.errorbar(x, y, reach, fmt="o", color=colour, markersize=5, elinewidth=0.8, zorder=order)
            length = len(names.display_name(inputs.labels, "method", method))
            words = style.ink(colour) if method in bright else QUIET
            marks.append(style.Mark(x, y, names.plot_method(inputs.labels, method), words, length))
        ax.set_xlabel("time of an epoch / CCE's" if len(cce) else "seconds per epoch")
        ax.margins(0.15, 0.1)
        ax.set_xlim(*style.widen(ax.get_xlim(), LEAST_TIMES * (1.0 if len(cce) else rows["seconds"].mean())))
        ax.set_ylim(*style.widen(ax.get_ylim(), LEAST_POINTS))
        name_points(ax, sorted(marks, key=lambda mark: mark.colour == QUIET))

    runs = complete_runs(inputs)
    clock = next((name for name in CLOCKS if name in runs and runs[name].notna().all()), "seconds")
    table = _table(runs, clock)
    caption = (
        f"Mean test accuracy of the last ten epochs over the mean {CLOCKS[clock]} of one of these epochs, relative "
        "to CCE in panels where CCE was run."
    )
    if table["reach"].notna().any():
        caption += " Bars are 95 % intervals of the accuracy over the seeds."
    caption += mention_held_out(inputs, set(table["dataset"]))
    return draw_panels(table, inputs, caption, panel, 2.9, "test accuracy (%)", most=2)


def _table(runs: pd.DataFrame, clock: str) -> pd.DataFrame:
    """Return seconds and accuracy of each cell in the settings that have several."""
    if clock not in runs:
        raise NothingToDraw("These runs were kept without their times.")
    summary = results.summarise(runs, metrics=(ACCURACY, clock))
    wide = summary.pivot_table(index=list(CELL), columns="metric", values="mean", sort=False)
    by_cell = results.readings(runs).groupby(list(CELL))["last10_mean"]
    wide = (
        wide.assign(reach=by_cell.agg(lambda values: np.diff(interval_over_seeds(values.to_list()))[0] / 2))
        .reset_index()
        .rename(columns={clock: "seconds"})
    )
    counts = wide.groupby(SETTING)["method"].transform("nunique")
    several = wide[counts > 1].dropna(subset=["seconds", ACCURACY])
    if several.empty:
        raise NothingToDraw("This figure needs a setting with two methods; train another one.")
    return several


# Places of a name next to its point: the offset of its lower left corner, in widths and heights of the name.
_PLACES = [(0.0, -0.5), (-1.0, -0.5), (-0.5, 0.4), (-0.5, -1.4), (0.0, 0.3), (0.0, -1.3), (-1.0, 0.3), (-1.0, -1.3)]
_PLACES += [(0.0, 1.2), (0.0, -2.2), (-1.0, 1.2), (-1.0, -2.2), (0.0, 2.1), (0.0, -3.1), (-0.5, 3.0), (-0.5, -4.0)]


def name_points(ax: Axes, marks: Sequence[style.Mark]) -> None:
    """Write a name next to each point, in the place where it overlaps least."""
    width, height = style.inches(ax)
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    at = [((m.x - left) / (right - left) * 72 * width, (m.y - low) / (high - low) * 72 * height) for m in marks]
    taken = [Bbox.from_extents(x - 3, y - 3, x + 3, y + 3) for x, y in at]
    for mark, (x, y) in zip(marks, at, strict=True):
        wide, tall = 0.58 * NAME_SIZE * (mark.length or len(mark.name)), 1.1 * NAME_SIZE
        best = min((_box(x, y, wide, tall, *place) for place in _PLACES), key=lambda box: _covered(box, taken, width))
        taken.append(best)
        offset = (best.x0 - x, best.y0 - y)
        text = ax.annotate(mark.name, (mark.x, mark.y), offset, textcoords="offset points")
        text.set(color=mark.colour, fontsize=NAME_SIZE, va="bottom")


def _box(x: float, y: float, wide: float, tall: float, right: float, up: float) -> Bbox:
    aside = 4 if right == 0 else -4 if right == -1 else 0
    left, bottom = x + right * wide + aside, y + up * tall + (2 if up > 0 else -2 if up < -0.5 else 0)
    return Bbox.from_bounds(left, bottom, wide, tall)


def _covered(box: Bbox, taken: Iterable[Bbox], width: float) -> float:
    """Return the area that overlaps with `taken`, plus a penalty for what lies outside the plot."""
    common = (Bbox.intersection(box, other) for other in taken)
    shared = sum(part.width * part.height for part in common if part is not None)
    return shared + 10 * max(0.0, -box.x0) + 10 * max(0.0, box.x1 - 72 * width)
