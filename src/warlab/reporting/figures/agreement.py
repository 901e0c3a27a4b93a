"""Our numbers against the published ones, a point per cell; on the diagonal they are equal."""

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from warlab.ids import base_method
from warlab.reporting import names, style
from warlab.reporting.figures.base import Drawing, Inputs, NothingToDraw, complete_runs
from warlab.reporting.read.results import CELL, SETTING, group_by_setting, summarise

TITLE = "Our numbers against the paper's"
SECTION = "results"
NEEDS = ("runs", "published")
ASKS = {"published": True}
MARKERS = "osD^vP*X<>"


def draw(inputs: Inputs) -> Drawing:
    key = [*CELL, "metric"]
    paper = inputs.published.drop_duplicates(key)[[*key, "mean"]].astype({"mean": float})
    both = summarise(complete_runs(inputs)).merge(paper, on=key, suffixes=("", "_published"))
    table = both.dropna(subset=["mean", "mean_published"])
    if table.empty:
        raise NothingToDraw("No run of this scale has a published number; there is nothing to compare.")
    kinds = SETTING if table["net"].nunique() > 1 else SETTING[:2]
    figure = Figure(figsize=(style.COLUMN + 0.4, 4.4))
    ax = figure.subplots()
    entries = []
    for (setting, rows), marker in zip(group_by_setting(table), MARKERS * len(table), strict=False):
        entries.append((marker, "#555555", setting.display_name(inputs.labels, kinds)))
        for method, x, y in rows[["method", "mean_published", "mean"]].itertuples(index=False):
            ax.plot(float(x), float(y), marker, color=_look(method, inputs)[0], markersize=4.5, alpha=0.85)
    entries += [("o", *look) for look in dict.fromkeys(_look(method, inputs) for method in table["method"])]
    ends = table[["mean_published", "mean"]].to_numpy(float)
    low, high = ends.min() - 2, ends.max() + 2
    ax.plot([low, high], [low, high], color="#888888", linewidth=0.8, zorder=0)
    ax.set(xlim=(low, high), ylim=(low, high), xlabel="the paper (%)", ylabel="this scale (%)", aspect="equal")
    handles = [
        Line2D([], [], marker=marker, linestyle="", color=colour, markersize=4, label=name)
        for marker, colour, name in entries
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2, fontsize=6)
    caption = (
        f"Our test accuracy against the published one in the {len(table)} cells that have both. The shape of a point "
        "shows dataset and noise, its colour the method. Below the line, our accuracy is lower than the paper's, as is "
        "usual at a smaller scale."
    )
    return Drawing(figure, caption, set(table["dataset"]))


def _look(method: str, inputs: Inputs) -> tuple[str, str]:
    """Return colour and name of a method; methods outside the WAR family share one, as there are too few colours."""
    base = base_method(method)
    if base not in style.FAMILY:
        return style.GREY, "other methods"
    return inputs.looks[base][0], names.plot_method(inputs.labels, base)
