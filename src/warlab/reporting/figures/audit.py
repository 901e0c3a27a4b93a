"""How well each score of the audit finds the wrong labels, by method."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from warlab.reporting import names, style
from warlab.reporting.figures.base import Drawing, Inputs, NothingToDraw, draw_panels
from warlab.reporting.read.results import SETTING, Scenario
from warlab.reporting.tables.audit_table import SCORE_TEXT

TITLE = "How well wrong labels are found"
SECTION = "audit"
NEEDS = ("audit",)
CAPTION = (
    "The audit of labels: the probability that a wrong label has a higher score than a right one (area under the ROC "
    "curve; 0.5 is chance), by method and score. The scores are computed from the training alone. Bars are 95 % "
    "intervals over the seeds, if there are several. For tiles, the labels are those of whole objects."
)
MARKS = {
    "combined": ("o", style.VERMILION),
    "margin": ("v", style.BLUE),
    "loss": ("s", style.BLACK),
    "confident": ("^", style.GREEN),
    "transport": ("D", style.PURPLE),
}


def draw(inputs: Inputs) -> Drawing:
    table = inputs.audit[inputs.audit["metric"] == "auroc"]
    if table.empty:
        raise NothingToDraw("No run of this scale has labels that are known to be wrong.")
    lowest = float(np.nanmin(table[["mean", "low"]].to_numpy(float)))

    def panel(ax: Axes, rows: pd.DataFrame, _setting: Scenario) -> None:
        methods = list(dict.fromkeys(rows["method"]))[::-1]
        for place, (score, (mark, colour)) in enumerate(MARKS.items()):
            scored = rows[rows["score"] == score].set_index("method").reindex(methods)
            y, half = np.arange(len(methods)) + 0.14 * (2 - place), ((scored["high"] - scored["low"]) / 2).fillna(0)
            name = SCORE_TEXT[score]
            ax.errorbar(scored["mean"], y, xerr=half, fmt=mark, color=colour, markersize=3.5, linewidth=0.8, label=name)
        ax.set_yticks(range(len(methods)), [names.plot_method(inputs.labels, method) for method in methods])
        ax.set(xlim=(lowest - 0.02, 1.01), ylim=(-0.6, len(methods) - 0.4), xlabel="area under the ROC curve")

    most = table.groupby(SETTING)["method"].nunique().max()
    drawing = draw_panels(table, inputs, CAPTION, panel, 0.27 * most + 0.9, most=2)
    drawing.figure.legend(*drawing.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(MARKS))
    return drawing
