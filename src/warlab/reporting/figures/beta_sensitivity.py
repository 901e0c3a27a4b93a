"""Accuracy over the weight β of the regularisation; filled markers are our runs, open ones the paper's."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from warlab.common.wording import several
from warlab.ids import MethodId
from warlab.reporting import names, style
from warlab.reporting.figures.base import Inputs, NothingToDraw, complete_runs, draw_panels, mention_stand_in
from warlab.reporting.read import results
from warlab.reporting.read.results import ACCURACY, SETTING, Scenario

TITLE = "Accuracy over the weight β"
SECTION = "results"
NEEDS = ("runs", "published")
ASKS = {"experiment": "beta_sensitivity"}


def draw(inputs: Inputs) -> Figure:
    published = _select_beta(inputs.published)

    def panel(ax: Axes, ours: pd.DataFrame, setting: Scenario) -> None:
        paper, ends = published[(published[SETTING] == list(setting[:3])).all(axis=1)], []
        for method in dict.fromkeys([*paper["varied"], *ours["varied"]]):
            colour, name = inputs.looks[method][0], names.plot_method(inputs.labels, method)
            theirs, here = paper[paper["varied"] == method], ours[ours["varied"] == method]
            for numbers, face, width in ((theirs, "white", 0.6), (here, colour, 1.4)):
                x, y = numbers["beta"], numbers["mean"].astype(float)
                ax.plot(x, y, "o-", color=colour, markersize=4, markerfacecolor=face, linewidth=width)
            ends.append(style.Mark(1, float((here if len(here) else theirs)["mean"].iloc[-1]), name, style.ink(colour)))
        ticks = sorted({*ours["beta"], *paper["beta"]})
        ax.set(xscale="log", xlabel="β")
        ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        ax.minorticks_off()
        ax.set_ylim(*ax.get_ylim())
        style.name_ends(ax, ends, 0.06)

    return draw_panels(_ours(inputs), inputs, panel, 3.0, "test accuracy (%)")


def caption(inputs: Inputs) -> str:
    ours = _ours(inputs)
    seeds = sorted(set(ours["seeds"]))
    each = several(seeds[0], "run") if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]} runs"
    text = (
        f"Accuracy over the weight β. Filled markers and thick lines: this scale, {each} each, the same seeds for "
        "every β of a method. Open markers and thin lines: the paper, one run each. A method without filled markers "
        "was not run here."
    )
    return mention_stand_in(text, inputs, set(ours["dataset"]))


def _ours(inputs: Inputs) -> pd.DataFrame:
    """Return the runs whose id has β; for each method, those seeds that all its β share."""
    named = _select_beta(complete_runs(inputs))
    one = [*SETTING, "varied"]
    of_seed, of_all = (named.groupby(keys)["beta"].transform("nunique") for keys in ([*one, "seed"], one))
    if not (of_seed == of_all).any():
        raise NothingToDraw("No run names its β; train those of the experiment beta_sensitivity.")
    return _select_beta(results.summarise(named[of_seed == of_all]))


def _select_beta(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of methods that change only β, in the order of β; the column `varied` is the method without β."""
    ids = table["method"].map(MethodId.parse)
    chosen = ids.map(lambda method: list(method.changed) == ["beta"]).astype(bool)
    if "metric" in table:
        chosen &= table["metric"] == ACCURACY
    varied, betas = [method.base for method in ids[chosen]], [float(method.changed["beta"]) for method in ids[chosen]]
    return table[chosen].assign(varied=varied, beta=betas).sort_values("beta", kind="stable")
