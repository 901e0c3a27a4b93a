"""How well each score of the audit finds the wrong labels, by method."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from warlab.errors import WarlabError
from warlab.reporting import style
from warlab.reporting.figures.base import Inputs, mark_stand_in, note, with_stand_in
from warlab.reporting.stats.audit_scores import SCORE_TEXT
from warlab.reporting.tables import labels

TITLE = "How well wrong labels are found"
SECTION = "audit"
NEEDS = ("audit",)
PANEL = ["dataset", "noise", "net"]
MARKS = {
    "combined": ("o", style.VERMILION),
    "margin": ("v", style.BLUE),
    "loss": ("s", style.BLACK),
    "confident": ("^", style.GREEN),
    "transport": ("D", style.PURPLE),
}
NOTHING = "No run of this scale has labels that are known to be wrong"
MAX_COLUMNS = 2


def draw(inputs: Inputs) -> Figure:
    table = _auroc(inputs)
    if table.empty:
        return note(NOTHING, inputs)
    panels = list(table.groupby(PANEL, sort=False))
    columns = min(len(panels), MAX_COLUMNS)
    rows = -(-len(panels) // columns)
    most = max(panel["method"].nunique() for _, panel in panels)
    with style.context():
        width = style.COLUMN + 1 if columns == 1 else style.PAGE
        figure = Figure(figsize=(width, rows * (0.27 * most + 0.75) + 0.35), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False, sharex=True).ravel()
        for ax, (key, panel) in zip(axes, panels, strict=False):
            _panel(ax, panel, inputs)
            ax.set_title(
                ", ".join(labels.name(inputs.labels, kind, str(v)) for kind, v in zip(PANEL, key, strict=True))
            )
        for ax in axes[len(panels) :]:
            ax.remove()
        handles, texts = axes[0].get_legend_handles_labels()
        figure.legend(handles, texts, loc="outside lower center", ncols=len(texts))
        mark_stand_in(figure, inputs, set(table["dataset"]))
    return figure


def caption(inputs: Inputs) -> str:
    table = _auroc(inputs)
    if table.empty:
        return f"{NOTHING}."
    text = (
        "The audit of labels: chance that a wrong label has a higher score than a right one (area under the ROC curve; "
        "0.5 is a guess), by method and score, from the training alone. Bars are 95 % intervals over the seeds, where "
        "there are several. Of tiles, labels of whole objects."
    )
    return with_stand_in(text, inputs, set(table["dataset"]))


def _auroc(inputs: Inputs) -> pd.DataFrame:
    if inputs.audit is None:
        raise WarlabError("The figure of the audit needs the table tables/audit.csv; make it first.")
    return inputs.audit[inputs.audit["metric"] == "auroc"]


def _panel(ax: Axes, panel: pd.DataFrame, inputs: Inputs) -> None:
    methods = list(dict.fromkeys(panel["method"]))[::-1]
    for place, (score, (mark, colour)) in enumerate(MARKS.items()):
        own = panel[panel["score"] == score].set_index("method").reindex(methods)
        y = [k + 0.14 * (2 - place) for k in range(len(methods))]
        ax.errorbar(
            own["mean"],
            y,
            xerr=((own["high"] - own["low"]) / 2).fillna(0),
            fmt=mark,
            color=colour,
            markersize=3.5,
            linewidth=0.8,
            label=SCORE_TEXT[score],
        )
    names = [labels.plot_method(labels.name(inputs.labels, "method", method)) for method in methods]
    ax.set_yticks(range(len(methods)), names)
    ax.set_ylim(-0.6, len(methods) - 0.4)
    ax.tick_params(labelbottom=True)
    ax.set_xlabel("area under the ROC curve")
