"""Test accuracy over the epochs: a panel per setting, a line per method, a band for the seeds."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from warlab.reporting import names, style
from warlab.reporting.figures.base import Inputs, complete_runs, draw_panels, mention_held_out, mention_stand_in
from warlab.reporting.read.curves import learning_curves
from warlab.reporting.read.results import CELL, Scenario, group_by_setting

TITLE = "Accuracy over the epochs"
SECTION = "results"
NEEDS = ("runs",)


def draw(inputs: Inputs) -> Figure:
    runs = complete_runs(inputs)

    def panel(ax: Axes, rows: pd.DataFrame, setting: Scenario) -> None:
        same_dataset = group_by_setting(runs[runs["dataset"] == setting.dataset])  # its panels have the same axis
        lows, highs = zip(*(style.value_range(learning_curves(part)) for _, part in same_dataset), strict=True)
        margin = max(0.5, 0.05 * (max(highs) - min(lows)))
        ax.set_ylim(max(0.0, min(lows) - margin), min(100.5, max(highs) + margin))
        ends = style.draw_curves(ax, learning_curves(rows), inputs.labels, inputs.looks)
        style.epochs_axis(ax, rows["epoch"].max())
        style.name_ends(ax, ends)

    return draw_panels(runs, inputs, panel, 2.8 if len(group_by_setting(runs)) == 1 else 2.3, "test accuracy (%)")


def caption(inputs: Inputs) -> str:
    runs = complete_runs(inputs)
    seeds = runs.groupby(list(CELL))["seed"].nunique().max()
    measured = set(runs["dataset"])
    clean = "" if measured & set(inputs.held_out) else "clean "
    text = f"Accuracy on the {clean}test set over the epochs of training on noisy labels."
    if seeds > 1:
        text += f" A line is the mean of up to {seeds} seeds; its band goes from the lowest to the highest of them."
    panels = [list(dict.fromkeys(panel["method"])) for _, panel in group_by_setting(runs)]
    grey = dict.fromkeys(method for methods in panels for method in methods if method not in style.prominent(methods))
    printed = ", ".join(names.display_name(inputs.labels, "method", method) for method in grey)
    chosen = runs.loc[runs["kept_epoch"].notna(), "method"].tolist() if "kept_epoch" in runs else []
    if kept := ", ".join(names.display_name(inputs.labels, "method", method) for method in dict.fromkeys(chosen)):
        text += f" {kept}: the network that noisy labels have chosen up to an epoch, not that of the epoch."
    text = mention_held_out(text + (f" Grey: {printed}." if printed else ""), inputs, measured)
    return mention_stand_in(text, inputs)
