"""The numbers of the headlines and of the first screen. The templates put them into sentences, which have the same form
whatever the result is."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from warlab.reporting.claims.evidence import Evidence
from warlab.reporting.names import BASELINE, PROPOSED, display_name
from warlab.reporting.page.context import Context
from warlab.reporting.page.curves import Panel, choose_panel
from warlab.reporting.read.results import Scenario
from warlab.reporting.stats import Estimate, difference
from warlab.reporting.tables.grid import Grid, grid, setting_name

_COUNTS = ("train images", "train samples", "train tiles", "test images", "test samples")
TELLING = ("data", *_COUNTS, "size", "epochs", "width")  # reductions worth a line
MOST_REDUCTIONS = 4


class Standing(NamedTuple):
    """One method of a headline, with the paper's number if ours can be compared with it."""

    method: str
    mean: float
    published: float


@dataclass(frozen=True)
class Headline:
    """The result of one setting: two methods that are compared, and the numbers of all methods."""

    setting: Scenario
    title: str
    source: str  # of the data
    standings: list[Standing]  # the best first
    first: Standing
    second: Standing
    epochs: list[int]  # over which the means of the two are taken; empty if it is not known
    estimate: Estimate | None  # of the difference between the two
    stand_in: bool
    low: float  # of the scale that shows the standings
    high: float


def make_headlines(context: Context) -> list[Headline]:
    """Return a headline per noisy setting of the first table with two methods; if there is none, per clean setting."""
    layout = grid(context.tables[0].data) if context.tables else Grid([], [], {})
    measured = [setting for setting in layout.settings if not setting.is_rank]
    compared = [at for at in measured if sum(layout.cell(at, method).run for method in layout.methods) >= 2]
    noisy = [setting for setting in compared if setting.noise != "clean"]
    return [_headline(context, layout, setting) for setting in noisy or compared]


def _headline(context: Context, layout: Grid, setting: Scenario) -> Headline:
    """Compare WAR_w2v with CCE if both were run, or else the highest method with the lowest."""
    cells = {method: cell for method in layout.methods if (cell := layout.cell(setting, method)).run}
    dataset, labels = setting.dataset, context.labels
    stand_in = any(cell.stand_in for cell in cells.values())
    numbers = [Standing(method, cell.mean, math.nan if stand_in else cell.published) for method, cell in cells.items()]
    standings = sorted(numbers, key=lambda standing: -standing.mean)
    named = {standing.method: standing for standing in standings}
    pair = (named[PROPOSED], named[BASELINE]) if {PROPOSED, BASELINE} <= set(named) else (standings[0], standings[-1])
    epochs = [context.epochs.get((*setting[:3], standing.method), 0) for standing in pair]
    drawn = [value for standing in standings for value in standing[1:] if not math.isnan(value)]
    return Headline(
        setting,
        title=f"{display_name(labels, 'dataset', dataset)}, {setting_name(layout, setting, labels)}",
        source=next((about.source for about in context.datasets if about.dataset == dataset), ""),
        standings=standings,
        first=pair[0],
        second=pair[1],
        epochs=[] if 0 in epochs else list(dict.fromkeys(epochs)),
        estimate=compare(context.evidence, setting, *pair),
        stand_in=stand_in,
        low=math.floor((min(drawn) - 0.5) / 5) * 5.0,
        high=math.ceil((max(drawn) + 0.5) / 5) * 5.0,
    )


def compare(evidence: Evidence, setting: Scenario, first: Standing, second: Standing) -> Estimate | None:
    """Return the difference of two methods with its interval, or None if one has no number on real data, or if the
    evidence has other seeds than the table, whose difference is printed."""
    one, two = (evidence.number(setting, standing.method) for standing in (first, second))
    estimate = difference(one, two) if one and two else None
    same = estimate is not None and math.isclose(estimate.value, first.mean - second.mean, abs_tol=0.01)
    return estimate if same else None


@dataclass(frozen=True)
class Opening:
    """What the first screen shows of a study beside the context: one setting, and the most important reductions."""

    panel: Panel | None = None
    headline: Headline | None = None  # of the panel
    singles: Sequence[tuple[str, Estimate]] = ()  # of a panel without a headline: its first methods and their numbers
    epochs: Sequence[int] = ()  # over which these are means
    committed: Estimate | None = None  # the difference between WAR_w2v and CCE in the committed evidence
    reductions: Sequence[Mapping[str, str]] = ()


def make_opening(context: Context, headlines: Sequence[Headline]) -> Opening:
    reductions = context.reductions if context.has_papers_numbers else ()  # other data have no paper to compare with
    telling = [row for word in TELLING for row in reductions if row["what"].endswith(f": {word}")][:MOST_REDUCTIONS]
    panel, committed = choose_panel(context.curves), context.committed
    if panel is None:
        return Opening(reductions=telling)
    one, two = (committed and committed.evidence.number(panel.setting, method) for method in (PROPOSED, BASELINE))
    numbers = {line.method: context.evidence.number(panel.setting, line.method) for line in panel.lines[:2]}
    return Opening(
        panel,
        next((headline for headline in headlines if headline.setting[:3] == panel.setting[:3]), None),
        [(method, difference(number)) for method, number in numbers.items() if number],
        sorted({context.epochs.get((*panel.setting[:3], method), 0) for method in numbers} - {0}),
        difference(one, two) if one and two else None,
        telling,
    )
