"""Test accuracy over the epochs, a panel per dataset and noise, a line per method, seeds as a band."""

from collections.abc import Hashable

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from warlab.reporting import style
from warlab.reporting.drawing import Mark, name_ends, panel_rows, panels
from warlab.reporting.figures.base import Inputs, NothingToDraw, mark_panels, with_stand_in
from warlab.reporting.read import results
from warlab.reporting.tables import labels

TITLE = "Accuracy over the epochs"
SECTION = "results"
NEEDS = ("runs",)
PANEL = ["dataset", "noise", "net"]


def draw(inputs: Inputs) -> Figure:
    runs = _runs(inputs)
    groups = list(runs.groupby(PANEL, sort=False))
    with style.context():
        rows = panel_rows(len(groups))
        size = (style.COLUMN + 1.2, 2.8) if len(groups) == 1 else (style.PAGE, 2.3 * len(rows))
        figure = Figure(figsize=size, layout="constrained")
        axes = panels(figure, len(groups))
        shown = [ax for row in axes for ax in row]
        for ax, (key, panel) in zip(shown, groups, strict=True):
            ax.set_ylim(*_limits(runs[runs["dataset"] == key[0]]))
            _panel(ax, panel, inputs)
            ax.set_title(_title(key, runs, inputs))
        for row in axes:
            row[0].set_ylabel("test accuracy (%)")
        mark_panels(figure, inputs, [(ax, str(key[0])) for ax, (key, _) in zip(shown, groups, strict=True)])
    return figure


def caption(inputs: Inputs) -> str:
    runs = _runs(inputs)
    seeds = runs.groupby([*PANEL, "method"])["seed"].nunique().max()
    band = f" Line: mean of {seeds} seeds; band: from the lowest to the highest of them." if seeds > 1 else ""
    text = f"Accuracy on the clean test set after every epoch of training on noisy labels.{band}"
    grey = {method for _, panel in runs.groupby(PANEL, sort=False) for method in _others(panel)}
    if grey:
        names = [labels.name(inputs.labels, "method", method) for method in dict.fromkeys(runs["method"])]
        kept = [name for name, method in zip(names, dict.fromkeys(runs["method"]), strict=True) if method in grey]
        text += f" Grey: {', '.join(kept)}."
    return with_stand_in(text, inputs)


def _runs(inputs: Inputs) -> pd.DataFrame:
    runs = results.complete(inputs.runs) if inputs.runs is not None else None
    if runs is None or runs.empty:
        raise NothingToDraw("No cell of this scale has all of its runs; there are no curves to draw.")
    return runs


def _others(panel: pd.DataFrame) -> list[str]:
    return [m for m in dict.fromkeys(panel["method"]) if m not in style.prominent(panel["method"])]


def _panel(ax: Axes, panel: pd.DataFrame, inputs: Inputs) -> None:
    """Grey lines below, the prominent ones above them, in the order of the table; names stand at the lines' ends."""
    grey, ends = _others(panel), []
    for method, group in panel.groupby("method", sort=False):
        seeds = group.pivot_table(index="epoch", columns="seed", values="test_accuracy")
        epochs = seeds.index.to_numpy(dtype=float)
        colour, dashes = style.line(str(method))
        if method in grey:
            ax.plot(epochs, seeds.mean(axis=1), color=style.GREY, linewidth=0.7, zorder=1.5)
            continue
        ax.plot(epochs, seeds.mean(axis=1), color=colour, linestyle=dashes)
        if seeds.shape[1] > 1:
            ax.fill_between(epochs, seeds.min(axis=1), seeds.max(axis=1), color=colour, alpha=0.18, linewidth=0)
        name = labels.plot_method(labels.name(inputs.labels, "method", str(method)))
        ends.append(Mark(1, float(seeds.mean(axis=1).iloc[-1]), name, style.ink(colour)))
    if grey:
        last = panel[panel["method"].isin(grey)].groupby("method")["test_accuracy"].last().median()
        ends.append(Mark(1, float(last), f"{len(grey)} others" if len(grey) > 1 else "1 other", "#777777"))
    ax.set_xlabel("epoch")
    ax.set_xlim(1, max(2, panel["epoch"].max()))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    name_ends(ax, ends)


def _limits(runs: pd.DataFrame) -> tuple[float, float]:
    """One range per dataset; the worst 3 % are cut, else the first epochs would flatten all that follows."""
    values = runs["test_accuracy"].dropna().to_numpy(float)
    low, high = np.percentile(values, 3), values.max()
    margin = max(0.5, 0.06 * (high - low))
    return max(0.0, low - margin), min(100.5, high + margin)


def _title(key: tuple[Hashable, ...], runs: pd.DataFrame, inputs: Inputs) -> str:
    kinds = PANEL if runs["net"].nunique() > 1 else PANEL[:2]
    return ", ".join(labels.name(inputs.labels, kind, str(value)) for kind, value in zip(kinds, key, strict=False))
