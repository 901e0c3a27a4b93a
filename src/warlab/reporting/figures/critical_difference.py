"""Average ranks of the methods; a bar joins methods whose ranks differ by less than the critical difference."""

from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from warlab.common.wording import several
from warlab.reporting import names, style
from warlab.reporting.figures.base import RED, Inputs, NothingToDraw, mark_stand_in, mention_stand_in
from warlab.reporting.read.csv_rows import rows_of
from warlab.reporting.stats import Statistic

TITLE = "Average ranks of the methods"
SECTION = "statistics"
NEEDS = ("statistics",)
ASKS = {"ranked": (3, 6)}  # methods, settings
READING = "last10_mean"


class Ranks(NamedTuple):
    """One experiment: average ranks by method, and the critical difference."""

    title: str
    ranks: dict[str, float]
    difference: float
    stand_in: bool


def draw(inputs: Inputs) -> Figure:
    experiments = _experiments(inputs)
    with style.context():
        heights = [0.75 + 0.085 * max(4, len(one.ranks)) for one in experiments]
        figure = Figure(figsize=(style.PAGE, sum(heights) + 0.5))
        axes = figure.subplots(len(experiments), 1, squeeze=False, height_ratios=heights).ravel()
        all_stand_in = all(one.stand_in for one in experiments)
        for ax, experiment in zip(axes, experiments, strict=True):
            _diagram(ax, experiment, inputs)
            mixed = experiment.stand_in and not all_stand_in
            title = f"{experiment.title}{', stand-in data' * mixed}"
            ax.set_title(title, loc="left", color=RED if mixed else style.BLACK)
        if all_stand_in:
            mark_stand_in(figure, inputs)
    return figure


def caption(inputs: Inputs) -> str:
    text = (
        "Average ranks over all settings (dataset, noise, network) that have every method; 1 is the best. Bars join "
        "methods that differ by less than Nemenyi's critical difference at 5 %. Experiments with fewer than six such "
        "settings are not shown."
    )
    return mention_stand_in(text, inputs)


def _experiments(inputs: Inputs) -> list[Ranks]:
    """Return the experiments whose ranks were tested, which takes six settings."""
    read = inputs.statistics[inputs.statistics["reading"] == READING]
    experiments = []
    for experiment, part in read.groupby("experiment", sort=False):
        rows = {(row.test, row.subject): row for row in rows_of(part, Statistic) if not row.note}
        if friedman := rows.get(("friedman", "")):
            title = names.display_name(inputs.labels, "experiment", str(experiment)).replace("_", " ")
            title = f"{title}: {several(friedman.cells, 'setting')}, Friedman p = {friedman.p_value:.2g}"
            ranks = {subject: row.value for (test, subject), row in rows.items() if test == "average_rank"}
            difference = rows["critical_difference", ""].value
            experiments.append(Ranks(title, ranks, difference, friedman.data == "stand-in"))
    if not experiments:
        methods, settings = ASKS["ranked"]
        raise NothingToDraw(f"No experiment of this scale has {methods} methods in {settings} common settings to rank.")
    return experiments


def _diagram(ax: Axes, experiment: Ranks, inputs: Inputs) -> None:
    ranks = experiment.ranks
    order = sorted(ranks, key=lambda method: ranks[method])
    count, half = len(order), -(-len(order) // 2)
    ax.set(xlim=(0.5, count + 0.5), ylim=(-half - 0.6, 1.2))
    ax.plot([1, count], [0, 0], color=style.BLACK, linewidth=0.8)
    for tick in range(1, count + 1):
        ax.plot([tick, tick], [0, 0.15], color=style.BLACK, linewidth=0.8)
        ax.text(tick, 0.3, str(tick), ha="center", va="bottom", fontsize=6)
    margin, bright = 0.04 * count, style.prominent(ranks)
    for place, method in enumerate(order):
        rank, name = f"{ranks[method]:.2f}", names.plot_method(inputs.labels, method)
        left = place < half
        height = -(place + 1 if left else count - place) + 0.1
        end, align = (1 - margin, "right") if left else (count + margin, "left")
        text = f"{name}  {rank} " if left else f" {rank}  {name}"
        colour = style.line(method)[0] if method in bright else style.GREY
        ax.plot([ranks[method], ranks[method], end], [0, height, height], color=colour, linewidth=0.9)
        ax.text(end, height, text, ha=align, va="center", fontsize=6.5)
    for level, (first, last) in enumerate(groups([ranks[method] for method in order], experiment.difference)):
        ax.plot([first - 0.04, last + 0.04], [-0.22 - 0.16 * level] * 2, color="#444444", linewidth=2.2)
    ax.set_axis_off()


def groups(ranks: list[float], difference: float) -> list[tuple[float, float]]:
    """Return the longest spans of sorted ranks that are not wider than the critical difference, none inside another."""
    spans = [(low, max(rank for rank in ranks if rank - low <= difference)) for low in ranks]
    wide = [span for span in spans if span[1] > span[0]]
    return [span for n, span in enumerate(wide) if all(span[1] > other[1] for other in wide[:n])]
