"""What a method costs in time against what it reaches, relative to CCE of the same setting where there is one."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from warlab.errors import WarlabError
from warlab.reporting import labels, results
from warlab.reporting.figures import style
from warlab.reporting.figures.base import Inputs, NothingToDraw, mark_stand_in, note, with_stand_in

NEEDS = ("runs",)
ASKS = {"together": 2}
PANEL = ["dataset", "noise", "net"]
MAX_COLUMNS = 3
NOTHING = "These runs were kept without their times"


def draw(inputs: Inputs) -> Figure:
    if not _timed(inputs):
        return note(NOTHING, inputs)
    table = _table(inputs)
    panels = list(table.groupby(PANEL, sort=False))
    with style.context():
        columns = min(len(panels), MAX_COLUMNS)
        rows = -(-len(panels) // columns)
        width = style.COLUMN if columns == 1 else style.PAGE
        lines = -(-table["method"].nunique() // (3 * columns))
        figure = Figure(figsize=(width, 2.4 * rows + 0.16 * lines + 0.4), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False).ravel()
        for ax, (key, panel) in zip(axes, panels, strict=False):
            _panel(ax, panel)
            names = [labels.name(inputs.labels, kind, str(v)) for kind, v in zip(PANEL, key, strict=True)]
            ax.set_title(", ".join(names if table["net"].nunique() > 1 else names[:2]))
        for ax in axes[len(panels) :]:
            ax.remove()
        for ax in axes[: len(panels) : columns]:
            ax.set_ylabel("test accuracy (%)")
        _legend(figure, table, inputs, 3 * columns)
        mark_stand_in(figure, inputs)
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


def _panel(ax: Axes, panel: pd.DataFrame) -> None:
    cce = panel.loc[panel["method"] == "cce", "seconds"]
    unit = float(cce.iloc[0]) if len(cce) else 1.0
    for row in panel.to_dict("records"):
        colour, dashes = style.line(str(row["method"]))
        x, y = float(row["seconds"]) / unit, float(row["test_accuracy"])
        ax.plot(x, y, _marker(dashes), color=colour, markersize=5)
    ax.set_xlabel("time of an epoch / CCE's" if len(cce) else "seconds per epoch")
    ax.margins(0.08)


def _marker(dashes: style.Dashes) -> str:
    return "D" if isinstance(dashes, tuple) else {"-": "o", "--": "s", ":": "^"}.get(dashes, "D")


def _legend(figure: Figure, table: pd.DataFrame, inputs: Inputs, columns: int) -> None:
    methods = list(dict.fromkeys(table["method"]))
    looks = [style.line(str(method)) for method in methods]
    handles = [Line2D([], [], color=c, marker=_marker(d), linestyle="", markersize=4) for c, d in looks]
    names = [labels.plot_method(labels.name(inputs.labels, "method", str(method))) for method in methods]
    figure.legend(handles, names, loc="outside lower center", ncols=min(columns, len(names)))
