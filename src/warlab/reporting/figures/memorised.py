"""Share of the wrong training labels that the networks reproduce, over the epochs."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from warlab.reporting import style
from warlab.reporting.figures.base import Inputs, NothingToDraw, complete_runs, draw_panels, mention_stand_in
from warlab.reporting.read.curves import learning_curves
from warlab.reporting.read.results import Scenario

TITLE = "Memorised wrong labels"
SECTION = "results"
NEEDS = ("runs",)
ASKS = {"wrong_labels": True, "column": "memorised"}


def draw(inputs: Inputs) -> Figure:
    def panel(ax: Axes, rows: pd.DataFrame, setting: Scenario) -> None:
        ends = style.draw_curves(ax, learning_curves(rows, "memorised"), inputs.labels, inputs.looks)
        style.epochs_axis(ax, rows["epoch"].max())
        ax.set_ylim(0, 100)
        style.name_ends(ax, ends)

    return draw_panels(_runs(inputs), inputs, panel, 2.5, "wrong labels reproduced (%)")


def caption(inputs: Inputs) -> str:
    text = (
        "Share of the wrong training labels that a network predicts, in evaluation mode, on at most 1000 samples with "
        "wrong labels. Grey: methods that are not named."
    )
    return mention_stand_in(text, inputs)


def _runs(inputs: Inputs) -> pd.DataFrame:
    runs = complete_runs(inputs)
    if "memorised" not in runs or runs["memorised"].isna().all():
        raise NothingToDraw("This figure needs runs whose wrong labels are known.")
    measured = runs.groupby(["dataset", "noise", "net", "method"])["memorised"].transform("count") > 0
    return runs[measured]
