"""Time of an epoch against test accuracy; the time is relative to CCE of the same setting, if that was run."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from warlab.reporting import style
from warlab.reporting.drawing import Mark, name_points
from warlab.reporting.figures.base import Inputs, NothingToDraw, complete_runs, in_panels, with_stand_in
from warlab.reporting.read import results
from warlab.reporting.setting import SETTING, Setting
from warlab.reporting.tables import labels

TITLE = "Time against accuracy"
SECTION = "results"
NEEDS = ("runs",)
ASKS = {"together": 2, "timed": True}
QUIET = "#666666"


def draw(inputs: Inputs) -> Figure:
    def panel(ax: Axes, rows: pd.DataFrame, _setting: Setting) -> None:
        """Draw the prominent methods in their colours above the grey ones, each with its name."""
        cce = rows.loc[rows["method"] == "cce", "seconds"]
        unit = float(cce.iloc[0]) if len(cce) else 1.0
        bright, marks = style.prominent(rows["method"]), []
        for method, seconds, y in rows[["method", "seconds", "test_accuracy"]].itertuples(index=False):
            x, colour = seconds / unit, style.line(method)[0] if method in bright else style.GREY
            ax.plot(x, y, "o", color=colour, markersize=5, zorder=3 if method in bright else 2)
            length = len(labels.name(inputs.labels, "method", method))
            words = style.ink(colour) if method in bright else QUIET
            marks.append(Mark(x, y, labels.plot_method(inputs.labels, method), words, length))
        ax.set_xlabel("time of an epoch / CCE's" if len(cce) else "seconds per epoch")
        ax.margins(0.15, 0.1)
        name_points(ax, sorted(marks, key=lambda mark: mark.colour == QUIET))

    return in_panels(_table(inputs), inputs, panel, 2.9, "test accuracy (%)", most=2)  # two in a row: names need room


def caption(inputs: Inputs) -> str:
    text = (
        "Mean test accuracy of the last ten epochs over the mean time of one of these epochs, relative to CCE in "
        "panels where CCE was run. Runs that shared a machine with others took longer."
    )
    return with_stand_in(text, inputs)


def _table(inputs: Inputs) -> pd.DataFrame:
    runs = complete_runs(inputs)
    if "seconds" not in runs:
        raise NothingToDraw("These runs were kept without their times.")
    summary = results.summarise(runs, metrics=("test_accuracy", "seconds"))
    wide = summary.pivot_table(index=list(results.CELL), columns="metric", values="mean", sort=False).reset_index()
    counts = wide.groupby(SETTING)["method"].transform("nunique")
    several = wide[counts > 1].dropna(subset=["seconds", "test_accuracy"])
    if several.empty:
        raise NothingToDraw("This figure needs a setting with two methods; train another one.")
    return several
