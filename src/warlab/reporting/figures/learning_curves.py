"""Test accuracy over the epochs: a panel per setting, a line per method, a band for the seeds."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from warlab.common.wording import several
from warlab.reporting import names, style
from warlab.reporting.figures.base import Inputs, complete_runs, in_panels, with_stand_in
from warlab.reporting.read import results
from warlab.reporting.read.results import Scenario, group_by_setting

TITLE = "Accuracy over the epochs"
SECTION = "results"
NEEDS = ("runs",)


def draw(inputs: Inputs) -> Figure:
    runs = complete_runs(inputs)

    def panel(ax: Axes, rows: pd.DataFrame, setting: Scenario) -> None:
        """Draw grey lines below the coloured ones, in the order of the table, with names at the ends of the lines."""
        ax.set_ylim(*_limits(runs[runs["dataset"] == setting.dataset]))
        grey, ends = _others(rows), []
        for method, group in rows.groupby("method", sort=False):
            if method in grey:
                mean = group.groupby("epoch")["test_accuracy"].mean()
                ax.plot(mean.index.to_numpy(dtype=float), mean, color=style.GREY, linewidth=0.7, zorder=1.5)
            else:
                ends.append(style.curve(ax, group, "test_accuracy", str(method), inputs.labels))
        if grey:
            last = rows[rows["method"].isin(grey)].groupby("method")["test_accuracy"].last().median()
            ends.append(style.Mark(1, float(last), several(len(grey), "other"), "#777777"))
        style.epochs_axis(ax, rows["epoch"].max())
        style.name_ends(ax, ends)

    height = 2.8 if len(group_by_setting(runs)) == 1 else 2.3
    return in_panels(runs, inputs, panel, height, "test accuracy (%)")


def caption(inputs: Inputs) -> str:
    runs = complete_runs(inputs)
    seeds = runs.groupby(list(results.CELL))["seed"].nunique().max()
    text = "Accuracy on the clean test set after every epoch of training on noisy labels."
    if seeds > 1:
        text += f" A line is the mean of up to {seeds} seeds; its band goes from the lowest to the highest of them."
    grey = {method for _, panel in group_by_setting(runs) for method in _others(panel)}
    named = [names.display_name(inputs.labels, "method", m) for m in dict.fromkeys(runs["method"]) if m in grey]
    return with_stand_in(text + (f" Grey: {', '.join(named)}." if named else ""), inputs)


def _others(panel: pd.DataFrame) -> list[str]:
    return [m for m in dict.fromkeys(panel["method"]) if m not in style.prominent(panel["method"])]


def _limits(runs: pd.DataFrame) -> tuple[float, float]:
    """Return the range of one dataset without its lowest 3 %: the first epochs would flatten the rest."""
    values = runs["test_accuracy"].dropna().to_numpy(float)
    low, high = np.percentile(values, 3), values.max()
    margin = max(0.5, 0.06 * (high - low))
    return max(0.0, low - margin), min(100.5, high + margin)
