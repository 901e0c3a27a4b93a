"""Share of true labels among the samples that a method selects for training, over the epochs."""

import pandas as pd
from matplotlib.axes import Axes

from warlab.reporting import style
from warlab.reporting.figures.base import Drawing, Inputs, complete_runs, draw_panels
from warlab.reporting.read.curves import learning_curves
from warlab.reporting.read.results import Scenario

TITLE = "True labels among the selected samples"
SECTION = "results"
NEEDS = ("runs", "noise")
ASKS = {"methods": ("coteaching", "coteaching_plus", "jocor"), "wrong_labels": True, "column": "purity"}


def draw(inputs: Inputs) -> Drawing:
    def panel(ax: Axes, rows: pd.DataFrame, setting: Scenario) -> None:
        ends = [style.draw_curve(ax, curve, inputs.labels, inputs.looks) for curve in learning_curves(rows, "purity")]
        manifests = [entry.manifest for entry in inputs.noise]
        rates = [m.realised_rate for m in manifests if (m.dataset, m.noise) == setting[:2]]
        if rates:
            true = 100 * (1 - sum(rates) / len(rates))
            ax.axhline(true, color="#666666", linestyle=":", linewidth=1)
            ends.append(style.Mark(1, true, "all samples", "#666666"))
        style.draw_epochs(ax, ends, rows)

    caption = "Share of true labels among the samples that a method selects for training, mean of both networks."
    if inputs.noise:
        caption += " Grey, dotted: the share among all samples, which a random selection would have."
    runs = complete_runs(
        inputs, "purity", "This figure needs runs of a method that selects samples, such as coteaching."
    )
    noisy = runs[runs["noise"] != "clean"]
    return draw_panels(noisy if len(noisy) else runs, inputs, caption, panel, 2.5, "true labels among selected (%)")
