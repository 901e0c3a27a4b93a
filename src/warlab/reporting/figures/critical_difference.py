"""Average ranks of the methods; a bar joins those whose ranks differ by less than the critical difference."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from warlab.errors import WarlabError
from warlab.reporting import style
from warlab.reporting.figures.base import RED, Inputs, NothingToDraw, mark_stand_in, with_stand_in
from warlab.reporting.tables import labels

TITLE = "Average ranks of the methods"
SECTION = "statistics"
NEEDS = ("statistics",)
ASKS = {"compared": 3}
READING = "last10_mean"


def draw(inputs: Inputs) -> Figure:
    experiments = _experiments(inputs)
    with style.context():
        heights = [0.75 + 0.085 * max(4, len(ranks)) for _, ranks, *_ in experiments]
        fake = [stand_in for *_, stand_in in experiments]
        figure = Figure(figsize=(style.PAGE, sum(heights) + 0.5), layout="constrained")
        axes = figure.subplots(len(experiments), 1, squeeze=False, height_ratios=heights).ravel()
        for ax, (title, ranks, difference, note, stand_in) in zip(axes, experiments, strict=True):
            _diagram(ax, ranks, difference, inputs)
            mixed = stand_in and not all(fake)
            ax.set_title(f"{title}: {note}{', stand-in data' * mixed}", loc="left", color=RED if mixed else style.BLACK)
        if all(fake):
            mark_stand_in(figure, inputs)
    return figure


def caption(inputs: Inputs) -> str:
    text = (
        "Average ranks over all settings (dataset, noise, network) that have every method, 1 is the best. Where "
        "there are settings enough, bars join methods that differ by less than Nemenyi's critical difference at 5 %; "
        "elsewhere the title says that there is no test."
    )
    return with_stand_in(text, inputs)


def _experiments(inputs: Inputs) -> list[tuple[str, dict[str, float], float | None, str, bool]]:
    if inputs.statistics is None or inputs.statistics.empty:
        raise WarlabError("The diagram of ranks needs statistics; make statistics.csv first.")
    own = inputs.statistics[inputs.statistics["reading"] == READING]
    found = []
    for experiment, rows in own.groupby("experiment", sort=False):
        ranked = rows[rows["test"] == "average_rank"]
        ranks = dict(zip(ranked["subject"], ranked["value"], strict=True))
        if len(ranks) >= 3:
            title = labels.name(inputs.labels, "experiment", str(experiment))
            found.append(
                (title.replace("_", " "), ranks, _critical(rows), _note(rows), "stand-in" in set(rows["data"]))
            )
    if not found:
        raise NothingToDraw("No experiment of this scale has three methods in a common cell; there are no ranks.")
    return found


def _critical(rows: pd.DataFrame) -> float | None:
    values = rows.loc[rows["test"] == "critical_difference", "value"]
    return float(values.iloc[0]) if len(values) else None


def _note(rows: pd.DataFrame) -> str:
    friedman = rows[rows["test"] == "friedman"].iloc[0]
    cells = f"{int(friedman['cells'])} setting" + ("s" if friedman["cells"] != 1 else "")
    return f"{cells}, too few for a test" if friedman["note"] else f"{cells}, Friedman p = {friedman['p_value']:.2g}"


def _diagram(ax: Axes, ranks: dict[str, float], difference: float | None, inputs: Inputs) -> None:
    order = sorted(ranks, key=lambda method: ranks[method])
    count, half = len(order), -(-len(order) // 2)
    ax.set_xlim(0.5, count + 0.5)
    ax.set_ylim(-half - 0.6, 1.2)
    ax.plot([1, count], [0, 0], color=style.BLACK, linewidth=0.8)
    for tick in range(1, count + 1):
        ax.plot([tick, tick], [0, 0.15], color=style.BLACK, linewidth=0.8)
        ax.text(tick, 0.3, str(tick), ha="center", va="bottom", fontsize=6)
    margin, bright = 0.04 * count, style.prominent(ranks)
    for place, method in enumerate(order):
        left = place < half
        height = -(place + 1 if left else count - place) + 0.1
        end = 1 - margin if left else count + margin
        name = labels.plot_method(labels.name(inputs.labels, "method", method))
        colour = style.line(method)[0] if method in bright else style.GREY
        text = f"{name}  {ranks[method]:.2f}" if left else f"{ranks[method]:.2f}  {name}"
        ax.plot([ranks[method], ranks[method], end], [0, height, height], color=colour, linewidth=0.9)
        ax.text(
            end, height, f"{text} " if left else f" {text}", ha="right" if left else "left", va="center", fontsize=6.5
        )
    for level, (first, last) in enumerate(groups([ranks[method] for method in order], difference)):
        ax.plot([first - 0.04, last + 0.04], [-0.22 - 0.16 * level] * 2, color="#444444", linewidth=2.2)
    ax.set_axis_off()


def groups(ranks: list[float], difference: float | None) -> list[tuple[float, float]]:
    """The longest spans of sorted ranks that are not wider than the critical difference; none inside another."""
    if difference is None:
        return []
    spans = [(low, max(rank for rank in ranks if rank - low <= difference)) for low in ranks]
    wide = [span for span in spans if span[1] > span[0]]
    return [span for n, span in enumerate(wide) if all(span[1] > other[1] for other in wide[:n])]
