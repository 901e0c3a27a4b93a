"""True labels among the samples that selecting methods train on, over the epochs."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from warlab.reporting import labels, results
from warlab.reporting.figures import style
from warlab.reporting.figures.base import Inputs, NothingToDraw, mark_stand_in, with_stand_in

NEEDS = ("runs", "noise")
ASKS = {"methods": ("coteaching", "coteaching_plus", "jocor")}
PANEL = ["dataset", "noise", "net"]
MAX_COLUMNS = 3


def draw(inputs: Inputs) -> Figure:
    runs = _runs(inputs)
    panels = list(runs.groupby(PANEL, sort=False))
    with style.context():
        columns = min(len(panels), MAX_COLUMNS)
        rows = -(-len(panels) // columns)
        width = style.COLUMN if columns == 1 else style.PAGE
        figure = Figure(figsize=(width, 2.5 * rows + 0.5), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False).ravel()
        for ax, (key, panel) in zip(axes, panels, strict=False):
            _panel(ax, panel, inputs, _true_labels(inputs, str(key[0]), str(key[1])))
            names = [labels.name(inputs.labels, kind, str(v)) for kind, v in zip(PANEL, key, strict=True)]
            ax.set_title(", ".join(names if runs["net"].nunique() > 1 else names[:2]))
        for ax in axes[len(panels) :]:
            ax.remove()
        for ax in axes[: len(panels) : columns]:
            ax.set_ylabel("true labels among selected (%)")
        found = {name: line for ax in axes for line, name in zip(*ax.get_legend_handles_labels(), strict=True)}
        figure.legend(list(found.values()), list(found), loc="outside lower center", ncols=2 * columns + 1)
        mark_stand_in(figure, inputs)
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
    for method, group in panel.groupby("method", sort=False):
        seeds = group.pivot_table(index="epoch", columns="seed", values="purity")
        epochs = seeds.index.to_numpy(dtype=float)
        colour, dashes = style.line(str(method))
        name = labels.plot_method(labels.name(inputs.labels, "method", str(method)))
        ax.plot(epochs, seeds.mean(axis=1), color=colour, linestyle=dashes, label=name)
        if seeds.shape[1] > 1:
            ax.fill_between(epochs, seeds.min(axis=1), seeds.max(axis=1), color=colour, alpha=0.18, linewidth=0)
    if share is not None:
        ax.axhline(100 * share, color="#666666", linestyle=":", linewidth=1, label="all samples")
    ax.set_xlabel("epoch")
    ax.set_xlim(1, max(2, panel["epoch"].max()))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def _true_labels(inputs: Inputs, dataset: str, noise: str) -> float | None:
    rates = [m["realised_rate"] for m in inputs.noise if m["dataset"] == dataset and m["noise"] == noise]
    return 1 - sum(rates) / len(rates) if rates else None
