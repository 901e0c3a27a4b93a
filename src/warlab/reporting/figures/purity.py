"""True labels among the samples that selecting methods train on, over the epochs."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from warlab.reporting import style
from warlab.reporting.drawing import Mark, name_ends, panel_rows, panels
from warlab.reporting.figures.base import Inputs, NothingToDraw, mark_panels, with_stand_in
from warlab.reporting.read import results
from warlab.reporting.tables import labels

TITLE = "True labels among the selected samples"
SECTION = "results"
NEEDS = ("runs", "noise")
ASKS = {"methods": ("coteaching", "coteaching_plus", "jocor")}
PANEL = ["dataset", "noise", "net"]


def draw(inputs: Inputs) -> Figure:
    runs = _runs(inputs)
    groups = list(runs.groupby(PANEL, sort=False))
    with style.context():
        width = style.COLUMN + 1.2 if len(groups) == 1 else style.PAGE
        figure = Figure(figsize=(width, 2.5 * len(panel_rows(len(groups)))), layout="constrained")
        axes = panels(figure, len(groups))
        shown = [ax for row in axes for ax in row]
        for ax, (key, panel) in zip(shown, groups, strict=True):
            _panel(ax, panel, inputs, _true_labels(inputs, str(key[0]), str(key[1])))
            names = [labels.name(inputs.labels, kind, str(v)) for kind, v in zip(PANEL, key, strict=True)]
            ax.set_title(", ".join(names if runs["net"].nunique() > 1 else names[:2]))
        for row in axes:
            row[0].set_ylabel("true labels among selected (%)")
        mark_panels(figure, inputs, [(ax, str(key[0])) for ax, (key, _) in zip(shown, groups, strict=True)])
    return figure


def caption(inputs: Inputs) -> str:
    text = "Purity of the samples that a method selects for training, mean of each epoch and of both networks."
    if inputs.noise:
        text += " Dotted, grey: share of true labels among all samples, which a random selection would have."
    return with_stand_in(text, inputs)


def _runs(inputs: Inputs) -> pd.DataFrame:
    runs = results.complete(inputs.runs) if inputs.runs is not None else None
    if runs is None or "purity" not in runs or runs["purity"].isna().all():
        raise NothingToDraw("The figure of purity needs runs of a method that selects samples, such as coteaching.")
    chosen = runs[runs["purity"].notna()]
    noisy = chosen[chosen["noise"] != "clean"]
    return noisy if len(noisy) else chosen


def _panel(ax: Axes, panel: pd.DataFrame, inputs: Inputs, share: float | None) -> None:
    ends = []
    for method, group in panel.groupby("method", sort=False):
        seeds = group.pivot_table(index="epoch", columns="seed", values="purity")
        epochs = seeds.index.to_numpy(dtype=float)
        colour, dashes = style.line(str(method))
        name = labels.plot_method(labels.name(inputs.labels, "method", str(method)))
        ax.plot(epochs, seeds.mean(axis=1), color=colour, linestyle=dashes)
        ends.append(Mark(1, float(seeds.mean(axis=1).iloc[-1]), name, style.ink(colour)))
        if seeds.shape[1] > 1:
            ax.fill_between(epochs, seeds.min(axis=1), seeds.max(axis=1), color=colour, alpha=0.18, linewidth=0)
    if share is not None:
        ax.axhline(100 * share, color="#666666", linestyle=":", linewidth=1)
        ends.append(Mark(1, 100 * share, "all samples", "#666666"))
    ax.set_xlabel("epoch")
    ax.set_xlim(1, max(2, panel["epoch"].max()))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_ylim(*ax.get_ylim())
    name_ends(ax, ends)


def _true_labels(inputs: Inputs, dataset: str, noise: str) -> float | None:
    rates = [m["realised_rate"] for m in inputs.noise if m["dataset"] == dataset and m["noise"] == noise]
    return 1 - sum(rates) / len(rates) if rates else None
