"""Share of true labels among the samples that a method selects for training, over the epochs."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from warlab.reporting import style
from warlab.reporting.figures.base import Inputs, NothingToDraw, complete_runs, draw_panels, mention_stand_in
from warlab.reporting.read.curves import learning_curves
from warlab.reporting.read.results import Scenario

TITLE = "True labels among the selected samples"
SECTION = "results"
NEEDS = ("runs", "noise")
ASKS = {"methods": ("coteaching", "coteaching_plus", "jocor")}


def draw(inputs: Inputs) -> Figure:
    def panel(ax: Axes, rows: pd.DataFrame, setting: Scenario) -> None:
        ends = [style.draw_curve(ax, curve, inputs.labels, inputs.looks) for curve in learning_curves(rows, "purity")]
        manifests = [entry.manifest for entry in inputs.noise]
        rates = [m.realised_rate for m in manifests if (m.dataset, m.noise) == setting[:2]]
        if rates:
            true = 100 * (1 - sum(rates) / len(rates))
            ax.axhline(true, color="#666666", linestyle=":", linewidth=1)
            ends.append(style.Mark(1, true, "all samples", "#666666"))
        style.epochs_axis(ax, rows["epoch"].max())
        ax.set_ylim(*ax.get_ylim())
        style.name_ends(ax, ends)

    return draw_panels(_runs(inputs), inputs, panel, 2.5, "true labels among selected (%)")


def caption(inputs: Inputs) -> str:
    text = "Share of true labels among the samples that a method selects for training, mean of both networks."
    if inputs.noise:
        text += " Grey, dotted: the share among all samples, which a random selection would have."
    return mention_stand_in(text, inputs)


def _runs(inputs: Inputs) -> pd.DataFrame:
    runs = complete_runs(inputs)
    if "purity" not in runs or runs["purity"].isna().all():
        raise NothingToDraw("This figure needs runs of a method that selects samples, such as coteaching.")
    chosen = runs[runs["purity"].notna()]
    noisy = chosen[chosen["noise"] != "clean"]
    return noisy if len(noisy) else chosen
