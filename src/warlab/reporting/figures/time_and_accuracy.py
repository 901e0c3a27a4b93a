"""What a method costs in time against what it reaches, relative to CCE of the same setting where there is one."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from warlab.errors import WarlabError
from warlab.reporting import style
from warlab.reporting.drawing import Mark, name_points, panel_rows, panels
from warlab.reporting.figures.base import Inputs, NothingToDraw, mark_panels, note, with_stand_in
from warlab.reporting.read import results
from warlab.reporting.tables import labels

TITLE = "Time against accuracy"
SECTION = "results"
NEEDS = ("runs",)
ASKS = {"together": 2, "timed": True}
PANEL = ["dataset", "noise", "net"]
MOST = 2  # panels in a row: names need room
HEIGHT = 2.9  # of a panel, in inches
NOTHING = "These runs were kept without their times"


def draw(inputs: Inputs) -> Figure:
    if not _timed(inputs):
        return note(NOTHING, inputs)
    table = _table(inputs)
    groups = list(table.groupby(PANEL, sort=False))
    with style.context():
        rows = panel_rows(len(groups), MOST)
        width = style.COLUMN + 1.2 if len(groups) == 1 else style.PAGE
        figure = Figure(figsize=(width, HEIGHT * len(rows)), layout="constrained")
        axes = panels(figure, len(groups), MOST)
        shown = [(ax, width / len(row) - 0.6) for row in axes for ax in row]
        for (ax, wide), (key, panel) in zip(shown, groups, strict=True):
            _panel(ax, panel, inputs, wide)
            names = [labels.name(inputs.labels, kind, str(v)) for kind, v in zip(PANEL, key, strict=True)]
            ax.set_title(", ".join(names if table["net"].nunique() > 1 else names[:2]))
        for row in axes:
            row[0].set_ylabel("test accuracy (%)")
        mark_panels(figure, inputs, [(ax, str(key[0])) for (ax, _), (key, _) in zip(shown, groups, strict=True)])
    return figure


def caption(inputs: Inputs) -> str:
    if not _timed(inputs):
        return with_stand_in(f"{NOTHING}.", inputs)
    text = (
        "Mean test accuracy of the last ten epochs over the seconds that one of these epochs took; the x axis is "
        "relative to CCE of the same panel where it was run. Runs that shared a machine with others took longer."
    )
    return with_stand_in(text, inputs)


def _timed(inputs: Inputs) -> bool:
    if inputs.runs is None:
        raise WarlabError("The figure of time needs runs with their seconds; train one first.")
    return "seconds" in inputs.runs


def _table(inputs: Inputs) -> pd.DataFrame:
    assert inputs.runs is not None
    runs = results.complete(inputs.runs)
    summary = results.summarise(runs, metrics=("test_accuracy", "seconds"))
    wide = summary.pivot_table(index=list(results.CELL), columns="metric", values="mean", sort=False).reset_index()
    counts = wide.groupby(PANEL)["method"].transform("nunique")
    several = wide[counts > 1].dropna(subset=["seconds", "test_accuracy"])
    if several.empty:
        raise NothingToDraw("The figure of time needs a setting with two methods; train another one.")
    return several


def _panel(ax: Axes, panel: pd.DataFrame, inputs: Inputs, width: float) -> None:
    """Prominent methods in their colours and above the grey ones; each has its name beside it."""
    cce = panel.loc[panel["method"] == "cce", "seconds"]
    unit = float(cce.iloc[0]) if len(cce) else 1.0
    bright, marks = style.prominent(panel["method"]), []
    for row in panel.to_dict("records"):
        method, x, y = str(row["method"]), float(row["seconds"]) / unit, float(row["test_accuracy"])
        colour = style.line(method)[0] if method in bright else style.GREY
        ax.plot(x, y, "o", color=colour, markersize=5, zorder=3 if method in bright else 2)
        called = labels.name(inputs.labels, "method", method)
        words = style.ink(colour) if method in bright else "#666666"
        marks.append(Mark(x, y, labels.plot_method(called), words, len(called)))
    ax.set_xlabel("time of an epoch / CCE's" if len(cce) else "seconds per epoch")
    ax.margins(0.15, 0.1)
    name_points(ax, sorted(marks, key=lambda mark: mark.colour == "#666666"), width, HEIGHT - 0.8)
