"""Ours against the published numbers, cell by cell, with the diagonal on which they would be equal."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from warlab.errors import WarlabError
from warlab.ids import base_method
from warlab.reporting import style
from warlab.reporting.figures.base import Inputs, NothingToDraw, mark_stand_in, with_stand_in
from warlab.reporting.read import results
from warlab.reporting.tables import labels

TITLE = "Our numbers against the paper's"
SECTION = "results"
NEEDS = ("runs", "published")
ASKS = {"published": True}
MARKERS = "osD^vP*X<>"
NAMED = ("cce", "ar", "tv", "war_01", "war_w2v", "war_embed")
OTHERS = "#AAAAAA"


def draw(inputs: Inputs) -> Figure:
    table = _pairs(inputs)
    settings = list(dict.fromkeys(zip(table["dataset"], table["noise"], table["net"], strict=True)))
    markers = {setting: MARKERS[number % len(MARKERS)] for number, setting in enumerate(settings)}
    with style.context():
        figure = Figure(figsize=(style.COLUMN + 0.4, 4.4), layout="constrained")
        ax = figure.subplots()
        for row in table.to_dict("records"):
            marker, colour = markers[(row["dataset"], row["noise"], row["net"])], _colour(str(row["method"]))
            ax.plot(float(row["published"]), float(row["ours"]), marker, color=colour, markersize=4.5, alpha=0.85)
        low = min(table["published"].min(), table["ours"].min()) - 2
        high = max(table["published"].max(), table["ours"].max()) + 2
        ax.plot([low, high], [low, high], color="#888888", linewidth=0.8, zorder=0)
        ax.set(xlim=(low, high), ylim=(low, high), xlabel="the paper (%)", ylabel="this scale (%)", aspect="equal")
        methods = {_colour(str(method)): _name(str(method), inputs) for method in table["method"]}
        handles = [Line2D([], [], marker=markers[s], linestyle="", color="#555555", markersize=4) for s in settings]
        handles += [Line2D([], [], marker="o", linestyle="", color=colour, markersize=4) for colour in methods]
        names = [*_settings(settings, inputs), *methods.values()]
        figure.legend(handles, names, loc="outside lower center", ncols=2, fontsize=6)
        mark_stand_in(figure, inputs, set(table["dataset"]))
    return figure


def caption(inputs: Inputs) -> str:
    table = _pairs(inputs)
    text = (
        f"Our test accuracy against the published one in the {len(table)} cells that have both; shape: dataset and "
        "noise, colour: method. Points below the line are lower here than in the paper, as smaller scales are."
    )
    return with_stand_in(text, inputs, set(table["dataset"]))


def _pairs(inputs: Inputs) -> pd.DataFrame:
    if inputs.runs is None or inputs.published is None:
        raise WarlabError("The comparison with the paper needs runs and published numbers; train a run first.")
    key = [*results.CELL, "metric"]
    ours = results.under_other_names(results.summarise(results.complete(inputs.runs)), inputs.aliases)
    first = inputs.published.drop_duplicates(key)[[*key, "mean"]].astype({"mean": float})
    both = (
        ours.rename(columns={"mean": "ours"})
        .merge(first.rename(columns={"mean": "published"}), on=key)
        .dropna(subset=["ours", "published"])
    )
    if both.empty:
        raise NothingToDraw("No run of this scale has a published number; there is nothing to compare.")
    return both


def _settings(settings: list[tuple[str, str, str]], inputs: Inputs) -> list[str]:
    nets = {net for _, _, net in settings}
    return [
        f"{labels.name(inputs.labels, 'dataset', dataset)}, {labels.name(inputs.labels, 'noise', noise)}"
        + (f", {net}" if len(nets) > 1 else "")
        for dataset, noise, net in settings
    ]


def _colour(method: str) -> str:
    """The family of the paper in its colours; all others in one, since eight colours do not tell twenty methods."""
    base = base_method(method)
    return style.line(base)[0] if base in NAMED else OTHERS


def _name(method: str, inputs: Inputs) -> str:
    base = base_method(method)
    return labels.plot_method(labels.name(inputs.labels, "method", base)) if base in NAMED else "other methods"
