"""Test accuracy over the epochs, a panel per dataset and noise, a line per method, seeds as a band."""

from collections.abc import Hashable

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from warlab.reporting import labels, results
from warlab.reporting.figures import style
from warlab.reporting.figures.base import Inputs, NothingToDraw, mark_stand_in, with_stand_in

NEEDS = ("runs",)
PANEL = ["dataset", "noise", "net"]
MAX_COLUMNS = 3


def draw(inputs: Inputs) -> Figure:
    runs = _runs(inputs)
    panels = list(runs.groupby(PANEL, sort=False))
    with style.context():
        columns = min(len(panels), MAX_COLUMNS)
        rows = -(-len(panels) // columns)
        width = style.COLUMN if columns == 1 else style.PAGE
        legend_lines = -(-runs["method"].nunique() // (3 * columns))
        figure = Figure(figsize=(width, 2.3 * rows + 0.18 * legend_lines + 0.3), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False).ravel()
        for ax, (key, panel) in zip(axes, panels, strict=False):
            _panel(ax, panel)
            ax.set_ylim(*_limits(runs[runs["dataset"] == key[0]]))
            ax.set_title(_title(key, runs, inputs))
        for ax in axes[len(panels) :]:
            ax.remove()
        for ax in axes[: len(panels) : columns]:
            ax.set_ylabel("test accuracy (%)")
        _legend(figure, runs, inputs, 3 * columns)
        mark_stand_in(figure, inputs)
    return figure


def caption(inputs: Inputs) -> str:
    runs = _runs(inputs)
    seeds = runs.groupby([*PANEL, "method"])["seed"].nunique().max()
    band = f" Line: mean of {seeds} seeds; band: from the lowest to the highest of them." if seeds > 1 else ""
    text = f"Accuracy on the clean test set after every epoch of training on noisy labels.{band}"
    return with_stand_in(text, inputs)


def _runs(inputs: Inputs) -> pd.DataFrame:
    runs = results.complete(inputs.runs) if inputs.runs is not None else None
    if runs is None or runs.empty:
        raise NothingToDraw("No cell of this scale has all of its runs; there are no curves to draw.")
    return runs


def _panel(ax: Axes, panel: pd.DataFrame) -> None:
    for method, group in panel.groupby("method", sort=False):
        seeds = group.pivot_table(index="epoch", columns="seed", values="test_accuracy")
        epochs = seeds.index.to_numpy(dtype=float)
        colour, dashes = style.line(str(method))
        ax.plot(epochs, seeds.mean(axis=1), color=colour, linestyle=dashes)
        if seeds.shape[1] > 1:
            ax.fill_between(epochs, seeds.min(axis=1), seeds.max(axis=1), color=colour, alpha=0.18, linewidth=0)
    ax.set_xlabel("epoch")
    ax.set_xlim(1, max(2, panel["epoch"].max()))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def _limits(runs: pd.DataFrame) -> tuple[float, float]:
    """One range per dataset; the worst 3 % are cut, else the first epochs would flatten all that follows."""
    values = runs["test_accuracy"].dropna().to_numpy(float)
    low, high = np.percentile(values, 3), values.max()
    margin = max(0.5, 0.06 * (high - low))
    return max(0.0, low - margin), min(100.5, high + margin)


def _title(key: tuple[Hashable, ...], runs: pd.DataFrame, inputs: Inputs) -> str:
    kinds = PANEL if runs["net"].nunique() > 1 else PANEL[:2]
    return ", ".join(labels.name(inputs.labels, kind, str(value)) for kind, value in zip(kinds, key, strict=False))


def _legend(figure: Figure, runs: pd.DataFrame, inputs: Inputs, columns: int) -> None:
    methods = list(dict.fromkeys(runs["method"]))
    names = [labels.plot_method(labels.name(inputs.labels, "method", method)) for method in methods]
    handles = [_handle(method) for method in methods]
    figure.legend(handles, names, loc="outside lower center", ncols=min(columns, len(names)))


def _handle(method: str) -> Line2D:
    colour, dashes = style.line(method)
    return Line2D([], [], color=colour, linestyle=dashes)
