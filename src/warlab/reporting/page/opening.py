"""The numbers of the headlines and of the first screen. The templates put them into sentences, which have the same form
whatever the result is."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from warlab.reporting.claims.evidence import Evidence
from warlab.reporting.names import BASELINE, PROPOSED, display_name
from warlab.reporting.page.context import Context
from warlab.reporting.page.curves import Panel, Picture, choose_panel, draw_picture
from warlab.reporting.read.results import Scenario
from warlab.reporting.stats import Estimate, difference, single
from warlab.reporting.tables.grid import Grid, grid, setting_name

TELLING = ("data", "train images", "train tiles", "test images", "size", "epochs", "width")  # reductions worth a line
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

    def position(self, value: float) -> float:
        """Return the place of a value on the scale from low to high, in percent of its width."""
        return round(100 * (value - self.low) / (self.high - self.low), 2)


def headlines(context: Context) -> list[Headline]:
    """Return a headline per noisy setting of the first table with two methods; if there is none, per clean setting."""
    if not context.tables:
        return []
    layout = grid(context.tables[0].data)
    settings = [setting for setting in layout.settings if not setting.is_rank]
    compared = {setting: standings for setting in settings if len(standings := _standings(layout, setting)) >= 2}
    noisy = {setting: standings for setting, standings in compared.items() if setting.noise != "clean"}
    return [_headline(context, layout, setting, standings) for setting, standings in (noisy or compared).items()]


def _standings(layout: Grid, setting: Scenario) -> list[Standing]:
    cells = {method: layout.cell(setting, method) for method in layout.methods}
    numbers = [
        Standing(method, cell.mean, math.nan if cell.stand_in else cell.published)
        for method, cell in cells.items()
        if cell.run
    ]
    return sorted(numbers, key=lambda standing: -standing.mean)


def _headline(context: Context, layout: Grid, setting: Scenario, standings: list[Standing]) -> Headline:
    """Compare WAR_w2v with CCE if both were run, or else the highest method with the lowest."""
    labels, by_method = context.labels, {standing.method: standing for standing in standings}
    pair = (
        (PROPOSED, BASELINE) if {PROPOSED, BASELINE} <= set(by_method) else (standings[0].method, standings[-1].method)
    )
    first, second = (by_method[method] for method in pair)
    epochs = [context.epochs.get((*setting[:3], method), 0) for method in pair]
    numbers = [value for standing in standings for value in standing[1:] if not math.isnan(value)]
    return Headline(
        setting,
        title=f"{display_name(labels, 'dataset', setting.dataset)}, {setting_name(layout, setting, labels)}",
        source=next((about.source for about in context.datasets if about.dataset == setting.dataset), ""),
        standings=standings,
        first=first,
        second=second,
        epochs=[] if 0 in epochs else list(dict.fromkeys(epochs)),
        estimate=_estimate(context.evidence, setting, first, second),
        stand_in=any(layout.cell(setting, method).stand_in for method in by_method),
        low=math.floor((min(numbers) - 0.5) / 5) * 5.0,
        high=math.ceil((max(numbers) + 0.5) / 5) * 5.0,
    )


def _estimate(evidence: Evidence | None, setting: Scenario, first: Standing, second: Standing) -> Estimate | None:
    """Return the difference with its interval, unless the table shows other seeds of these methods than `evidence`
    has: the interval would not belong to the printed difference."""
    estimate = compare(evidence, setting, first.method, second.method)
    same = estimate is not None and math.isclose(estimate.value, first.mean - second.mean, abs_tol=0.01)
    return estimate if same else None


def compare(evidence: Evidence | None, setting: Scenario, first: str, second: str) -> Estimate | None:
    """Return the difference of two methods with its interval, or None if one has no number on real data."""
    one, two = (evidence.number(setting, method) if evidence else None for method in (first, second))
    return difference(one, two) if one and two else None


@dataclass(frozen=True)
class Opening:
    """What the first screen shows of a study beside the context: one setting, and the most important reductions."""

    panel: Panel | None = None
    picture: Picture | None = None
    headline: Headline | None = None  # of the panel
    singles: Sequence[tuple[str, Estimate]] = ()  # of a panel without a headline: its first methods and their numbers
    committed: Estimate | None = None  # the difference between WAR_w2v and CCE in the committed evidence
    reductions: Sequence[Mapping[str, str]] = ()


def make_opening(context: Context, headlines: Sequence[Headline]) -> Opening:
    reductions = context.reductions if context.has_papers_numbers else ()  # other data have no paper to compare with
    telling = [row for word in TELLING for row in reductions if row["what"].endswith(f": {word}")][:MOST_REDUCTIONS]
    panel, evidence, committed = choose_panel(context.curves), context.evidence, context.committed
    if panel is None:
        return Opening(reductions=telling)
    numbers = (
        [(line.method, evidence.number(panel.setting, line.method)) for line in panel.lines[:2]] if evidence else []
    )
    return Opening(
        panel,
        draw_picture(panel),
        next((headline for headline in headlines if headline.setting[:3] == panel.setting[:3]), None),
        [(method, single(number)) for method, number in numbers if number],
        compare(committed.evidence, panel.setting, PROPOSED, BASELINE) if committed else None,
        telling,
    )
