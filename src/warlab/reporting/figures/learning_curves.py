"""Test accuracy over the epochs: a panel per setting, a line per method, a band for the seeds."""

from collections.abc import Iterable

import pandas as pd
from matplotlib.axes import Axes

from warlab.reporting import names, style
from warlab.reporting.figures.base import Drawing, Inputs, complete_runs, draw_panels, mention_held_out
from warlab.reporting.read.curves import learning_curves
from warlab.reporting.read.results import CELL, Scenario, group_by_setting

TITLE = "Accuracy over the epochs"
SECTION = "results"
NEEDS = ("runs",)


def draw(inputs: Inputs) -> Drawing:
    runs = complete_runs(inputs)

    def panel(ax: Axes, rows: pd.DataFrame, setting: Scenario) -> None:
        same_dataset = group_by_setting(runs[runs["dataset"] == setting.dataset])  # its panels have the same axis
        lows, highs = zip(*(style.value_range(learning_curves(part)) for _, part in same_dataset), strict=True)
        margin = max(0.5, 0.05 * (max(highs) - min(lows)))
        ax.set_ylim(max(0.0, min(lows) - margin), min(100.5, max(highs) + margin))
        style.draw_epochs(ax, style.draw_curves(ax, learning_curves(rows), inputs.labels, inputs.looks), rows)

    several_settings = len(group_by_setting(runs)) > 1
    return draw_panels(
        runs, inputs, _caption(inputs, runs), panel, 2.3 if several_settings else 2.8, "test accuracy (%)"
    )


def _caption(inputs: Inputs, runs: pd.DataFrame) -> str:
    def listed(methods: Iterable[str]) -> str:
        return ", ".join(names.display_name(inputs.labels, "method", method) for method in dict.fromkeys(methods))

    seeds = runs.groupby(list(CELL))["seed"].nunique().max()
    measured = set(runs["dataset"])
    clean = "" if measured & set(inputs.held_out) else "clean "
    text = f"Accuracy on the {clean}test set over the epochs of training on noisy labels."
    if seeds > 1:
        text += f" A line is the mean of up to {seeds} seeds; its band goes from the lowest to the highest of them."
    if "kept_epoch" in runs and (kept := listed(runs.loc[runs["kept_epoch"].notna(), "method"])):
        text += f" {kept}: the network that noisy labels have chosen up to an epoch, not that of the epoch."
    panels = [list(dict.fromkeys(panel["method"])) for _, panel in group_by_setting(runs)]
    if grey := listed(method for methods in panels for method in methods if method not in style.prominent(methods)):
        text += f" Grey: {grey}."
    return text + mention_held_out(inputs, measured)
