"""Accuracy over the weight β of the regularisation; filled markers are our runs, open ones the paper's."""

import pandas as pd
from matplotlib.axes import Axes

from warlab.common.wording import several
from warlab.ids import MethodId
from warlab.reporting import names, style
from warlab.reporting.figures.base import Drawing, Inputs, NothingToDraw, complete_runs, draw_panels
from warlab.reporting.read.results import ACCURACY, SETTING, Scenario, summarise

TITLE = "Accuracy over the weight β"
SECTION = "results"
NEEDS = ("runs", "published")
ASKS = {"experiment": "beta_sensitivity"}


def draw(inputs: Inputs) -> Drawing:
    published, ours = _select_beta(inputs.published), _mean_over_shared_seeds(_select_beta(complete_runs(inputs)))

    def panel(ax: Axes, rows: pd.DataFrame, setting: Scenario) -> None:
        paper, ends = published[(published[SETTING] == list(setting[:3])).all(axis=1)], []
        for method in dict.fromkeys([*paper["varied"], *rows["varied"]]):
            colour, name = inputs.looks[method][0], names.plot_method(inputs.labels, method)
            theirs, here = paper[paper["varied"] == method], rows[rows["varied"] == method]
            for numbers, face, width in ((theirs, "white", 0.6), (here, colour, 1.4)):
                x, y = numbers["beta"], numbers["mean"].astype(float)
                ax.plot(x, y, "o-", color=colour, markersize=4, markerfacecolor=face, linewidth=width)
            ends.append(style.Mark(1, float((here if len(here) else theirs)["mean"].iloc[-1]), name, style.ink(colour)))
        ticks = sorted({*rows["beta"], *paper["beta"]})
        ax.set(xscale="log", xlabel="β")
        ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        ax.minorticks_off()
        style.name_ends(ax, ends, 0.06)

    seeds = sorted(set(ours["seeds"]))
    each = several(seeds[0], "run") if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]} runs"
    caption = (
        f"Accuracy over the weight β. Filled markers and thick lines: this scale, {each} each, the same seeds for "
        "every β of a method. Open markers and thin lines: the paper, one run each. A method without filled markers "
        "was not run here."
    )
    return draw_panels(ours, inputs, caption, panel, 3.0, "test accuracy (%)")


def _mean_over_shared_seeds(named: pd.DataFrame) -> pd.DataFrame:
    """Return the mean over those seeds of a method that all its β share."""
    one = [*SETTING, "varied"]
    of_seed, of_all = (named.groupby(keys)["beta"].transform("nunique") for keys in ([*one, "seed"], one))
    if not (of_seed == of_all).any():
        raise NothingToDraw("No run names its β; train those of the experiment beta_sensitivity.")
    return _select_beta(summarise(named[of_seed == of_all]))


def _select_beta(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of methods that change only β, in the order of β; the column `varied` is the method without β."""
    ids = table["method"].map(MethodId.parse)
    chosen = ids.map(lambda method: list(method.changed) == ["beta"]).astype(bool)
    if "metric" in table:
        chosen &= table["metric"] == ACCURACY
    varied, betas = [method.base for method in ids[chosen]], [float(method.changed["beta"]) for method in ids[chosen]]
    return table[chosen].assign(varied=varied, beta=betas).sort_values("beta", kind="stable")
