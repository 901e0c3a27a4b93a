"""The result of each noisy setting in one sentence, computed and phrased the same whichever way it falls."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from warlab.reporting.claims.evidence import Evidence
from warlab.reporting.setting import Setting
from warlab.reporting.stats.intervals import LEVEL, Estimate, difference
from warlab.reporting.tables.grid import Cell, Grid, grid, number, setting_name, signed
from warlab.reporting.tables.labels import Labels, name

PROPOSED = "war_w2v"  # the variant that the paper puts into its main table
BASELINE = "cce"
Epochs = Mapping[tuple[str, ...], int]  # by cell (dataset, noise, network, method), as `results.epochs_averaged`
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True)
class Standing:
    """One method on the scale of a headline; positions are percent of its width."""

    method: str
    mean: float
    position: float
    published: float
    published_position: float


@dataclass(frozen=True)
class Headline:
    setting: Setting
    title: str
    sentence: str
    standings: list[Standing]  # the best first
    low: float
    high: float
    stand_in: bool


def headlines(
    table: pd.DataFrame, labels: Labels, sources: Mapping[str, str], epochs: Epochs, evidence: Evidence | None = None
) -> list[Headline]:
    """One per noisy setting with at least two methods; of the clean settings only where there are no others.

    `table` is tidy, `sources` says of each dataset where its data come from, `epochs` how many the means go over,
    `evidence` how sure a difference is.
    """
    evidence = evidence or Evidence({}, labels)
    layout = grid(table)
    measured = [setting for setting in layout.settings if not setting.is_rank]
    contested = [setting for setting in measured if len(_run(layout, setting)) >= 2]
    noisy = [setting for setting in contested if setting.noise != "clean"]
    return [_headline(layout, setting, labels, sources, epochs, evidence) for setting in noisy or contested]


def count(quantity: int) -> str:
    return _WORDS[quantity] if quantity < len(_WORDS) else str(quantity)


def _difference(evidence: Evidence, setting: Setting, cells: Mapping[str, Cell]) -> Estimate | None:
    """Of the pair of a headline; none where either has no number on real data, and none of other runs: another table
    may have more seeds of these cells, whose interval is not one of the printed difference."""
    ours, other = _pair(cells)
    one, two = evidence.number(setting, ours), evidence.number(setting, other)
    estimate = difference(one, two) if one and two else None
    same = estimate is not None and math.isclose(estimate.value, cells[ours].mean - cells[other].mean, abs_tol=0.01)
    return estimate if same else None


def interval_text(estimate: Estimate | None, sign: bool = True) -> str:
    """ " (95 %: +1.2 to +4.0; 3 seeds, Student's t)", or nothing where there is no interval."""
    low, high = estimate.interval() if estimate else (math.nan, math.nan)
    if estimate is None or not math.isfinite(low):
        return ""
    ends = [signed(end, 1) if sign else f"{end:.1f}" for end in (low, high)]
    return f" ({LEVEL:.0%}: {ends[0]} to {ends[1]}; {estimate.basis})".replace("%", "\N{NO-BREAK SPACE}%")


def _run(layout: Grid, setting: Setting) -> dict[str, Cell]:
    """The cells that were run, the highest mean first."""
    cells = {method: layout.cell(setting, method) for method in layout.methods}
    return dict(sorted(((m, c) for m, c in cells.items() if c.run), key=lambda item: -item[1].mean))


def _headline(
    layout: Grid, setting: Setting, labels: Labels, sources: Mapping[str, str], epochs: Epochs, evidence: Evidence
) -> Headline:
    cells = _run(layout, setting)
    title = f"{name(labels, 'dataset', setting.dataset)}, {setting_name(layout, setting, labels)}"
    stand_in = any(cell.stand_in for cell in cells.values())
    source = sources.get(setting.dataset, "")
    where = f"{title} ({source})" if source else title
    averaged = _averaged([epochs.get((*setting[:3], method), 0) for method in _pair(cells)])
    spread = interval_text(_difference(evidence, setting, cells))
    sentence = f"{where}: {_comparison(cells, labels, averaged, spread)}{_paper(cells, labels, stand_in)}"
    low, high = _scale(cells, stand_in)
    return Headline(setting, title, sentence, _standings(cells, labels, low, high, stand_in), low, high, stand_in)


def _pair(cells: Mapping[str, Cell]) -> tuple[str, str]:
    """WAR_w2v and CCE where both were run, else the highest and the lowest."""
    if PROPOSED in cells and BASELINE in cells:
        return PROPOSED, BASELINE
    methods = list(cells)
    return methods[0], methods[-1]


def _averaged(numbers: Sequence[int]) -> str:
    """Over which epochs the two means go, where it is known; methods may be trained for different times."""
    if 0 in numbers:
        return ""
    if set(numbers) == {1}:
        return " (in the last epoch)"
    return f" (mean of the last {' and '.join(count(number) for number in dict.fromkeys(numbers))} epochs)"


def _comparison(cells: Mapping[str, Cell], labels: Labels, averaged: str, spread: str) -> str:
    ours, other = _pair(cells)
    difference = cells[ours].mean - cells[other].mean
    best = next(iter(cells))
    highest = "" if best in (ours, other) else f" Highest: {_at(best, cells, labels)}."
    return (
        f"{_named(ours, labels)} ends at {percent(cells[ours].mean)}, {_at(other, cells, labels)}{averaged}, "
        f"a difference of {signed(difference, 1)} points{spread}.{highest}"
    )


def _paper(cells: Mapping[str, Cell], labels: Labels, stand_in: bool) -> str:
    if stand_in:
        return " These are stand-in data: the numbers say nothing about the method."
    methods = [method for method in _pair(cells) if not math.isnan(cells[method].published)]
    values = [f"{_named(method, labels)} {number(cells[method].published)}\N{NO-BREAK SPACE}%" for method in methods]
    return f" The paper, at full scale: {' and '.join(values)}." if values else ""


def _at(method: str, cells: Mapping[str, Cell], labels: Labels) -> str:
    return f"{_named(method, labels)} at {percent(cells[method].mean)}"


def percent(value: float) -> str:
    return f"{value:.1f}\N{NO-BREAK SPACE}%"


def _named(method: str, labels: Labels) -> str:
    return name(labels, "method", method)


def _scale(cells: Mapping[str, Cell], stand_in: bool) -> tuple[float, float]:
    """Round numbers around everything that is drawn."""
    drawn = [cell.mean for cell in cells.values()]
    drawn += [] if stand_in else [cell.published for cell in cells.values() if not math.isnan(cell.published)]
    low, high = math.floor((min(drawn) - 0.5) / 5) * 5, math.ceil((max(drawn) + 0.5) / 5) * 5
    return float(low), float(high)


def _standings(cells: Mapping[str, Cell], labels: Labels, low: float, high: float, stand_in: bool) -> list[Standing]:
    def position(value: float) -> float:
        return round(100 * (value - low) / (high - low), 2)

    return [
        Standing(_named(method, labels), cell.mean, position(cell.mean), published, position(published))
        for method, cell in cells.items()
        for published in [math.nan if stand_in else cell.published]
    ]
