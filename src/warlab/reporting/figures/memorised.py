"""Share of the wrong training labels that the networks reproduce, over the epochs."""

import pandas as pd
from matplotlib.axes import Axes

from warlab.reporting import style
from warlab.reporting.figures.base import Drawing, Inputs, complete_runs, draw_panels
from warlab.reporting.read.curves import learning_curves
from warlab.reporting.read.results import Scenario

TITLE = "Memorised wrong labels"
SECTION = "results"
NEEDS = ("runs",)
ASKS = {"wrong_labels": True, "column": "memorised"}
CAPTION = (
    "Share of the wrong training labels that a network predicts, in evaluation mode, on at most 1000 samples with "
    "wrong labels. Grey: methods that are not named."
)


def draw(inputs: Inputs) -> Drawing:
    def panel(ax: Axes, rows: pd.DataFrame, _setting: Scenario) -> None:
        ends = style.draw_curves(ax, learning_curves(rows, "memorised"), inputs.labels, inputs.looks)
        ax.set_ylim(0, 100)
        style.draw_epochs(ax, ends, rows)

    runs = complete_runs(inputs, "memorised", "This figure needs runs whose wrong labels are known.")
    return draw_panels(runs, inputs, CAPTION, panel, 2.5, "wrong labels reproduced (%)")
