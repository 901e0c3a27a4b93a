"""Accuracy over the weight β of the regularisation, ours as lines, the paper's as open markers."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from warlab.errors import WarlabError
from warlab.reporting import style
from warlab.reporting.drawing import Mark, name_ends
from warlab.reporting.figures.base import Inputs, NothingToDraw, mark_panels, with_stand_in
from warlab.reporting.read import results
from warlab.reporting.tables import labels

TITLE = "Accuracy over the weight β"
SECTION = "results"
NEEDS = ("runs", "published")
ASKS = {"experiment": "beta_sensitivity"}


def draw(inputs: Inputs) -> Figure:
    ours = _ours(inputs)
    paper = _with_beta(inputs.published) if inputs.published is not None else ours.head(0)
    shown = ours[["dataset", "noise", "net"]].drop_duplicates()
    with style.context():
        figure = Figure(figsize=(max(style.COLUMN, 2.8 * len(shown)), 3.0), layout="constrained")
        axes = figure.subplots(1, len(shown), squeeze=False).ravel()
        for ax, key in zip(axes, shown.itertuples(index=False), strict=True):
            _panel(ax, _at(ours, key), _at(paper, key), inputs)
            ax.set_title(
                ", ".join(labels.name(inputs.labels, k, v) for k, v in zip(("dataset", "noise"), key, strict=False))
            )
        axes[0].set_ylabel("test accuracy (%)")
        mark_panels(figure, inputs, zip(axes, shown["dataset"].astype(str), strict=True))
    return figure


def caption(inputs: Inputs) -> str:
    text = (
        "Accuracy over the weight β. Filled markers and lines: this scale; open markers and thin lines: the paper, "
        "one run each. A method without filled markers was not run here."
    )
    return with_stand_in(text, inputs, set(_ours(inputs)["dataset"]))


def _ours(inputs: Inputs) -> pd.DataFrame:
    """Runs whose id names β, and the plain ones of the same methods at their usual β (`betas`: what that is)."""
    if inputs.runs is None:
        raise WarlabError("The figure of β needs runs; train those of the experiment beta_sensitivity.")
    table = _with_beta(results.under_other_names(results.summarise(results.complete(inputs.runs)), inputs.aliases))
    if table.empty:
        raise NothingToDraw("No run names its β; train those of the experiment beta_sensitivity.")
    return table


def _with_beta(table: pd.DataFrame) -> pd.DataFrame:
    named = table[table["method"].str.contains(r"\+beta=") & (table["metric"] == "test_accuracy")]
    parts = named["method"].str.split("+beta=", regex=False)
    found = named.assign(method=parts.str[0], beta=parts.str[1].astype(float), mean=named["mean"].astype(float))
    return found.sort_values("beta")


def _at(table: pd.DataFrame, key: tuple[str, ...]) -> pd.DataFrame:
    return table[(table["dataset"] == key[0]) & (table["noise"] == key[1]) & (table["net"] == key[2])]


def _panel(ax: Axes, ours: pd.DataFrame, paper: pd.DataFrame, inputs: Inputs) -> None:
    ends = []
    for method in dict.fromkeys([*paper["method"], *ours["method"]]):
        colour, _ = style.line(str(method))
        theirs, own = paper[paper["method"] == method], ours[ours["method"] == method]
        name = labels.plot_method(labels.name(inputs.labels, "method", str(method)))
        ax.plot(
            theirs["beta"], theirs["mean"], "o-", color=colour, markerfacecolor="white", markersize=4, linewidth=0.6
        )
        ax.plot(own["beta"], own["mean"], "o-", color=colour, markersize=4)
        ends.append(Mark(1, float((own if len(own) else theirs)["mean"].iloc[-1]), name, style.ink(colour)))
    ax.set_xscale("log")
    ticks = sorted({*ours["beta"], *paper["beta"]})
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
    ax.set_xlabel("β")
    ax.set_ylim(*ax.get_ylim())
    name_ends(ax, ends, 0.06)
