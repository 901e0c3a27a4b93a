"""The result of each noisy setting in one sentence, computed and phrased the same whichever way it falls."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from warlab.reporting.claims.evidence import Evidence
from warlab.reporting.read.results import Setting
from warlab.reporting.stats.intervals import LEVEL, Estimate, difference
from warlab.reporting.tables.grid import Cell, Grid, grid, number, setting_name, signed
from warlab.reporting.tables.labels import Labels, name

PROPOSED = "war_w2v"  # the variant that the paper puts into its main table
BASELINE = "cce"
Epochs = Mapping[tuple[str, ...], int]  # by cell (dataset, noise, network, method), as `results.epochs_averaged`
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


class Standing(NamedTuple):
    """One method of a headline, with the paper's number where ours can be compared with it."""

    method: str
    mean: float
    published: float


@dataclass(frozen=True)
class Headline:
    setting: Setting
    sentence: str
    standings: list[Standing]  # the best first
    low: float
    high: float
    stand_in: bool

    def position(self, value: float) -> float:
        """Where it stands on the scale from low to high, in percent of its width."""
        return round(100 * (value - self.low) / (self.high - self.low), 2)


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
    if estimate is None or not math.isfinite(estimate.interval()[0]):
        return ""
    ends = [signed(end, 1) if sign else f"{end:.1f}" for end in estimate.interval()]
    return f" ({LEVEL:.0%}: {ends[0]} to {ends[1]}; {estimate.basis})".replace("%", "\N{NO-BREAK SPACE}%")


def _run(layout: Grid, setting: Setting) -> dict[str, Cell]:
    """The cells that were run, the highest mean first."""
    cells = {method: layout.cell(setting, method) for method in layout.methods}
    return dict(sorted(((m, c) for m, c in cells.items() if c.run), key=lambda item: -item[1].mean))


def _headline(
    layout: Grid, setting: Setting, labels: Labels, sources: Mapping[str, str], epochs: Epochs, evidence: Evidence
) -> Headline:
    cells = _run(layout, setting)
    called = {method: name(labels, "method", method) for method in cells}
    ends = {method: f"at {percent(cell.mean)}" for method, cell in cells.items()}
    (ours, other), best = _pair(cells), next(iter(cells))
    title = f"{name(labels, 'dataset', setting.dataset)}, {setting_name(layout, setting, labels)}"
    source = f" ({sources[setting.dataset]})" if sources.get(setting.dataset) else ""
    averaged = _averaged([epochs.get((*setting[:3], method), 0) for method in (ours, other)])
    points = signed(cells[ours].mean - cells[other].mean, 1)
    sentence = (
        f"{title}{source}: {called[ours]} ends {ends[ours]}, {called[other]} {ends[other]}{averaged}, "
        f"a difference of {points} points{interval_text(_difference(evidence, setting, cells))}."
    )
    if best not in (ours, other):
        sentence += f" Highest: {called[best]} {ends[best]}."
    stand_in = any(cell.stand_in for cell in cells.values())
    standings = [Standing(called[m], c.mean, math.nan if stand_in else c.published) for m, c in cells.items()]
    if stand_in:
        sentence += " These are stand-in data: the numbers say nothing about the method."
    elif papers := [m for m in (ours, other) if not math.isnan(cells[m].published)]:
        values = [f"{called[m]} {number(cells[m].published)}\N{NO-BREAK SPACE}%" for m in papers]
        sentence += f" The paper, at full scale: {' and '.join(values)}."
    return Headline(setting, sentence, standings, *_scale(standings), stand_in)


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


def percent(value: float) -> str:
    return f"{value:.1f}\N{NO-BREAK SPACE}%"


def _scale(standings: Sequence[Standing]) -> tuple[float, float]:
    """Round numbers around everything that is drawn."""
    numbers = [value for standing in standings for value in (standing.mean, standing.published)]
    drawn = [value for value in numbers if not math.isnan(value)]
    return math.floor((min(drawn) - 0.5) / 5) * 5.0, math.ceil((max(drawn) + 0.5) / 5) * 5.0
