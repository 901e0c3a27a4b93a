"""The sentences of the report: the headline of each setting, and the first screen.

Sentences have the same form whatever the result is. They use only what the study contains; what is missing is left out.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from warlab.common import progress
from warlab.ids import base_method
from warlab.reporting.claims.evidence import Evidence
from warlab.reporting.claims.verdicts import UNTESTED
from warlab.reporting.formats import number, signed
from warlab.reporting.names import BASELINE, PROPOSED, Labels, display_name
from warlab.reporting.page.context import Context, Epochs
from warlab.reporting.page.curves import Line, Panel, Picture, picture, pictured, prominent
from warlab.reporting.read.results import Scenario
from warlab.reporting.stats import LEVEL, MIN_SEEDS, Estimate, difference, single
from warlab.reporting.tables.grid import Cell, Grid, grid, setting_name

TELLING = ("data", "train images", "train tiles", "test images", "size", "epochs", "width")  # reductions worth a line
MOST_REDUCTIONS = 4
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


class Standing(NamedTuple):
    """One method of a headline, with the paper's number if ours can be compared with it."""

    method: str
    mean: float
    published: float


@dataclass(frozen=True)
class Headline:
    """The result of one setting in one sentence, and the numbers of all its methods."""

    setting: Scenario
    sentence: str
    standings: list[Standing]  # the best first
    low: float
    high: float
    stand_in: bool

    def position(self, value: float) -> float:
        """Return the place of a value on the scale from low to high, in percent of its width."""
        return round(100 * (value - self.low) / (self.high - self.low), 2)


def headlines(
    table: pd.DataFrame, labels: Labels, sources: Mapping[str, str], epochs: Epochs, evidence: Evidence | None = None
) -> list[Headline]:
    """Return one headline per noisy setting with at least two methods; without such settings, the clean ones.

    `table` is tidy, `sources` says for each dataset where its data come from, `epochs` over how many epochs the means
    are taken, and `evidence` how uncertain a difference is.
    """
    evidence = evidence or Evidence({}, labels)
    layout = grid(table)
    measured = [setting for setting in layout.settings if not setting.is_rank]
    compared = [setting for setting in measured if len(_run(layout, setting)) >= 2]
    noisy = [setting for setting in compared if setting.noise != "clean"]
    return [_headline(layout, setting, labels, sources, epochs, evidence) for setting in noisy or compared]


def _run(layout: Grid, setting: Scenario) -> dict[str, Cell]:
    """Return the cells that were run, the highest mean first."""
    cells = {method: layout.cell(setting, method) for method in layout.methods}
    return dict(sorted(((m, c) for m, c in cells.items() if c.run), key=lambda item: -item[1].mean))


def _headline(
    layout: Grid, setting: Scenario, labels: Labels, sources: Mapping[str, str], epochs: Epochs, evidence: Evidence
) -> Headline:
    cells = _run(layout, setting)
    called = {method: display_name(labels, "method", method) for method in cells}
    ends = {method: f"at {percent(cell.mean)}" for method, cell in cells.items()}
    (ours, other), best = _pair(cells), next(iter(cells))
    title = f"{display_name(labels, 'dataset', setting.dataset)}, {setting_name(layout, setting, labels)}"
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
    """Return WAR_w2v and CCE if both were run, or else the highest and the lowest method."""
    if PROPOSED in cells and BASELINE in cells:
        return PROPOSED, BASELINE
    methods = list(cells)
    return methods[0], methods[-1]


def _difference(evidence: Evidence, setting: Scenario, cells: Mapping[str, Cell]) -> Estimate | None:
    """Return the difference between the pair of a headline, with its interval.

    There is none if a method has no number on real data, nor if `evidence` has other seeds of these cells than the
    table: its interval would not belong to the printed difference.
    """
    ours, other = _pair(cells)
    one, two = evidence.number(setting, ours), evidence.number(setting, other)
    estimate = difference(one, two) if one and two else None
    same = estimate is not None and math.isclose(estimate.value, cells[ours].mean - cells[other].mean, abs_tol=0.01)
    return estimate if same else None


def _averaged(numbers: Sequence[int]) -> str:
    """Say over how many epochs the two means are taken, if it is known; methods may differ in it."""
    if 0 in numbers:
        return ""
    if set(numbers) == {1}:
        return " (in the last epoch)"
    return f" (mean of the last {' and '.join(count(number) for number in dict.fromkeys(numbers))} epochs)"


def _scale(standings: Sequence[Standing]) -> tuple[float, float]:
    """Return multiples of five around all numbers that are drawn."""
    numbers = [value for standing in standings for value in (standing.mean, standing.published)]
    drawn = [value for value in numbers if not math.isnan(value)]
    return math.floor((min(drawn) - 0.5) / 5) * 5.0, math.ceil((max(drawn) + 0.5) / 5) * 5.0


# ---- the first screen


@dataclass(frozen=True)
class Opening:
    """What the first screen says about this study; `war`: whether any variant of WAR was run."""

    war: bool
    numbers: str = ""
    run: Sequence[str] = ()
    limits: Sequence[str] = ()
    panel: Panel | None = None  # the setting of the picture
    picture: Picture | None = None
    picture_text: str = ""


def opening(context: Context, headlines: Sequence[Headline], seconds: float) -> Opening:
    """Return the first screen; `seconds` is the time of all trainings, 0 if it is not known."""
    panel = pictured(context.curves)
    lines = [line for one in context.curves for line in one.lines]
    methods = {base_method(line.method) for line in lines}
    seeds = sorted({line.seeds for line in lines})
    reductions = context.reductions if context.has_papers_numbers else ()  # other data have no paper to compare with
    return Opening(
        war=any(method.startswith("war") for method in methods),
        numbers=_numbers(panel, context, headlines) if panel else "",
        run=[sentence for sentence in (_trained(context, lines, seeds, seconds), _reduced(reductions)) if sentence],
        limits=_limits(context, methods, seeds, bool(reductions)),
        panel=panel,
        picture=picture(panel.lines, prominent(panel.lines)) if panel else None,
        picture_text=_in_words(panel) if panel else "",
    )


def _in_words(panel: Panel) -> str:
    """Describe the picture: the highest point and the end of each coloured line."""
    sentences = []
    for line in prominent(panel.lines):
        top = max(line.mean)
        peak = f"after epoch {line.epochs[line.mean.index(top)]} ({percent(top)})"
        sentences.append(f"{line.name} is highest {peak} and ends at {percent(line.mean[-1])}")
    others = len(panel.lines) - len(sentences)
    return f"{'; '.join(sentences)}." + (f" Grey: {_several(others, 'other method')}." if others else "")


def _numbers(panel: Panel, context: Context, headlines: Sequence[Headline]) -> str:
    """Return the result for the setting in the picture, with its uncertainty."""
    if panel.stand_in:
        return "These are stand-in data: the numbers say nothing about the methods."
    for headline in headlines:
        if headline.setting[:3] == panel.setting[:3]:
            return headline.sentence
    evidence = context.evidence
    measured = [(line, evidence.number(panel.setting, line.method)) for line in panel.lines[:2]] if evidence else []
    ends = [
        f"{line.name} ends at {percent(number.mean)}{interval_text(single(number), sign=False)}"
        for line, number in measured
        if number
    ]
    return f"{panel.title}: {', '.join(ends)}." if ends else ""


def _trained(context: Context, lines: Sequence[Line], seeds: Sequence[int], seconds: float) -> str:
    """Say how many trainings there were, of which methods and data, and how long they took."""
    if not lines:
        return ""
    datasets, noises = (
        list(dict.fromkeys(panel.setting.display_name(context.labels, [kind]) for panel in context.curves))
        for kind in ("dataset", "noise")
    )
    methods, runs = {line.method for line in lines}, sum(line.seeds for line in lines)
    often = f"{seeds[0]} to {seeds[-1]} seeds" if len(seeds) > 1 else _several(seeds[0], "seed")
    time = f"{duration(seconds)} of training" if seconds else "their times were not kept"
    return (
        f"{runs} training{'s' * (runs != 1)} of {_several(len(methods), 'method')} on {_listed(datasets)} "
        f"({_listed(noises)}), {often} each; {time}."
    )


def _reduced(reductions: Sequence[Mapping[str, str]]) -> str:
    """Name the most important values that differ from the paper's."""
    telling = [row for word in TELLING for row in reductions if row["what"].endswith(f": {word}")][:MOST_REDUCTIONS]
    chosen = [f"{row['what'].replace(': ', ' ')} {row['here']} (paper: {row['paper']})" for row in telling]
    owners = {row["what"].partition(": ")[0] for row in telling}
    if len(owners) == 1:  # a single dataset, which the sentence before names
        chosen = [text.removeprefix(f"{next(iter(owners))} ") for text in chosen]
    rest = len(reductions) - len(chosen)
    more = f"; {_several(rest, 'more value')} below" if rest else ""
    return f"Reduced: {', '.join(chosen)}{more}." if chosen else ""


def _limits(context: Context, methods: Collection[str], seeds: Sequence[int], reduced: bool) -> list[str]:
    """Say what this run cannot show, the most important limits first."""
    marked = [about.dataset for about in context.datasets if about.data == "stand-in"]
    stand_ins = _listed([display_name(context.labels, "dataset", dataset) for dataset in marked])
    fewest = min(seeds, default=0)
    trainings = "One training" if fewest == 1 else f"{count(fewest).capitalize()} trainings"
    untested = sum(row.verdict == UNTESTED for row in context.claims)
    clean = all(panel.setting.noise == "clean" for panel in context.curves)
    war = any(method.startswith("war") for method in methods)
    limits = {
        f"{stand_ins}: stand-in data in place of the real ones, which say nothing about the methods.": marked,
        "All labels are clean here, so this run does not show the effect of wrong labels.": methods and clean,
        "No variant of WAR was run.": methods and not war,
        "Plain cross entropy was not run, so there is no baseline.": methods and BASELINE not in methods,
        f"{trainings} of each method: it is not known how much the result would change with another seed. Intervals "
        "cover the choice of test images only.": 0 < fewest < MIN_SEEDS,
        "Smaller than in the paper: compare methods with each other, not percentages with the paper's.": reduced,
        f"{untested} of the {len(context.claims)} claims need data or trainings that are missing here.": untested,
    }
    return [sentence for sentence, applies in limits.items() if applies]


# ---- numbers and lists in words


def count(quantity: int) -> str:
    return _WORDS[quantity] if quantity < len(_WORDS) else str(quantity)


def percent(value: float) -> str:
    return f"{value:.1f}\N{NO-BREAK SPACE}%"


def duration(seconds: float) -> str:
    return progress.duration(seconds) if round(seconds) >= 60 else f"{seconds:.1f} s"


def interval_text(estimate: Estimate | None, sign: bool = True) -> str:
    """Return " (95 %: +1.2 to +4.0; 3 seeds, Student's t)", or nothing if there is no interval."""
    if estimate is None or not math.isfinite(estimate.interval()[0]):
        return ""
    ends = [signed(end, 1) if sign else f"{end:.1f}" for end in estimate.interval()]
    return f" ({LEVEL:.0%}: {ends[0]} to {ends[1]}; {estimate.basis})".replace("%", "\N{NO-BREAK SPACE}%")


def _several(number: int, noun: str) -> str:
    return f"{count(number)} {noun}{'s' * (number != 1)}"


def _listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)
