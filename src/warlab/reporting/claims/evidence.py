"""The numbers by which claims are judged, ours or the paper's, and the items of a verdict.

An item is one comparison of a claim: numbers that must each lie in a range, and whether their intervals decide it.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypedDict

import numpy as np
import pandas as pd

from warlab.common.readings import LAST
from warlab.reporting.names import Labels, display_name
from warlab.reporting.read import results
from warlab.reporting.read.artefacts import Timing
from warlab.reporting.read.predictions import Predictions
from warlab.reporting.read.results import ACCURACY, CELL, RUN, SETTING, Scenario
from warlab.reporting.stats import LEVEL, PRINTED, Estimate, Number, collect_numbers, difference

OTHERS = results.READINGS[1:]  # of the test accuracy, other than the mean of the last epochs


class Proposition(TypedDict):
    """What `warlab.ot.propositions` found for one statement."""

    holds: bool
    trials: int
    failed: int
    largest: float


@dataclass(frozen=True)
class Evidence:
    """Numbers by setting and method; `number` does not return those from stand-in data."""

    numbers: Mapping[tuple[Scenario, str], Number]
    labels: Labels
    propositions: Mapping[str, Proposition] = field(default_factory=dict)

    def number(self, setting: Scenario, method: str) -> Number | None:
        found = self.numbers.get((setting, method))
        return found if found and found.data == "real" and not math.isnan(found.mean) else None


def of_runs(
    runs: pd.DataFrame,
    aliases: Iterable[Sequence[str]],
    labels: Labels,
    propositions: Mapping[str, Proposition],
    last: Mapping[str, int] | None = None,
    kept: Predictions | None = None,
    tested_on: Mapping[str, int] | None = None,
) -> Evidence:
    """Every metric that the runs log, averaged as in the tables, and the other readings of the test accuracy.

    last       over how many epochs the table of a dataset averages, if not ten
    kept       the predictions of the runs
    tested_on  the number of test images of a dataset
    """
    epochs = dict.fromkeys(runs["dataset"].unique(), LAST) | dict(last or {})
    long = results.add_aliases(_per_run(runs, epochs), aliases)
    long["epochs"] = np.select(
        [long["metric"] == ACCURACY, long["metric"] == "last"], [long["dataset"].map(epochs), 1], 0
    )
    numbers = collect_numbers(long, "value", kept or {}, tested_on or {})
    by_cell = {(at, method): number for at, cells in numbers.items() for method, number in cells.items()}
    return Evidence(by_cell, labels, propositions)


def _per_run(runs: pd.DataFrame, epochs: Mapping[str, int]) -> pd.DataFrame:
    """A row per run and metric with its value, the mean over the last `epochs[dataset]` epochs.

    The value is empty if the run is missing or one of the epochs has no number.
    """
    metrics = [column for column in runs.columns if column not in (*RUN, "epoch") and runs[column].dtype != object]
    parts = [
        results.last_epochs(part, metrics, epochs[str(dataset)])["mean"].rename("value").reset_index()
        for dataset, part in runs.groupby("dataset", sort=False)
    ]
    kinds = runs[list(RUN)].drop_duplicates([*CELL, "seed"])
    means = pd.concat(parts, ignore_index=True).merge(kinds, on=[*CELL, "seed"])
    read = (
        results.readings(results.complete_cells(runs))
        .drop(columns="metric")
        .melt(list(RUN), list(OTHERS), "metric", "value")
    )
    long = pd.concat([means, read[read["value"].notna()]], ignore_index=True)
    return long.assign(run=results.run_ids(long))


def with_times(evidence: Evidence, timed: Iterable[Timing], stands_for: Mapping[str, Sequence[str]]) -> Evidence:
    """The evidence and the measured seconds per epoch, on random images, which take as long as any others.

    `stands_for` names the methods that take as long as a timed one.
    """
    numbers = dict(evidence.numbers)
    for entry in timed:
        setting = Scenario(entry["dataset"], entry["noise"], entry["net"], "seconds_per_epoch")
        for method, times in entry["seconds"].items():
            found = Number(
                float(times["epoch"]),
                source=f"timing/{setting.dataset}/{setting.net}.json",
                error=float(times.get("error", math.nan)),
                basis="timed steps" if "error" in times else "",
            )
            numbers |= {(setting, same): found for same in (method, *stands_for.get(method, ()))}
    return replace(evidence, numbers=numbers)


def of_paper(published: pd.DataFrame, labels: Labels) -> Evidence:
    """The paper's own tables, `results.read_published` with the claim's experiment first."""
    columns = [*SETTING, "metric", "method", "mean", "experiment"]
    rows = published.drop_duplicates([*CELL, "metric"])[columns].itertuples(index=False)
    numbers = {
        (Scenario(*map(str, key)), str(method)): Number(float(mean), source=f"paper: {experiment}", printed=True)
        for *key, method, mean, experiment in rows
    }
    return Evidence(numbers, labels)


class Part(NamedTuple):
    """A number that must lie above `low` and not above `high`."""

    label: str
    estimate: Estimate
    low: float
    high: float = math.inf

    @property
    def margin(self) -> float:
        """The distance of the number from the nearer limit; negative outside."""
        return min(self.estimate.value - self.low, self.high - self.estimate.value)

    def is_inside(self) -> bool:
        low, high = self.estimate.interval()
        return self.low < low and high < self.high

    def is_outside(self, parts: int) -> bool:
        """Whether the interval is outside, at a level corrected for the number of parts (Bonferroni)."""
        low, high = self.estimate.interval(1 - (1 - LEVEL) / parts)
        return high < self.low or self.high < low


@dataclass(frozen=True)
class Item:
    """One comparison: `holds` goes by the numbers alone, `decided` by their intervals; None if there is no answer.

    tested, named  the number of settings that it rests on, and of those that the claim names
    whole          whether every method that the claim names was run
    """

    text: str
    holds: bool | None
    parts: tuple[Part, ...] = ()
    rests_on: tuple[str, ...] = ()
    tested: int = 1
    named: int = 1
    whole: bool = True

    @property
    def decided(self) -> bool | None:
        printed = all(part.estimate.basis == PRINTED for part in self.parts)
        if self.holds is None or printed:
            return self.holds
        if self.holds and all(part.is_inside() for part in self.parts):
            return True
        refuted = not self.holds and any(part.is_outside(len(self.parts)) for part in self.parts)
        return False if refuted else None


class NotRun(Exception):
    """A check needs methods that have no number on real data."""

    def __init__(self, methods: Sequence[str], named: int = 1) -> None:
        super().__init__()
        self.methods, self.named = methods, named


class Case(NamedTuple):
    """One setting of a claim, with the evidence on it. It raises `NotRun` for numbers that it does not have."""

    evidence: Evidence
    setting: Scenario

    @property
    def where(self) -> str:
        metric = [] if self.setting.metric == ACCURACY else [self.setting.metric.replace("_", " ")]
        return ", ".join([self.setting.display_name(self.evidence.labels), *metric])

    def called(self, method: str) -> str:
        return display_name(self.evidence.labels, "method", method)

    def numbers(self, *methods: str, metric: str = "") -> list[Number]:
        setting = self.setting._replace(metric=metric or self.setting.metric)
        found = [number for method in methods if (number := self.evidence.number(setting, method))]
        if len(found) < len(methods):
            raise NotRun(methods)
        return found

    def present(self, methods: Sequence[str], least: int = 0) -> dict[str, Number]:
        """The numbers of those methods that have one, which must be `least` methods or more."""
        numbers = {method: found for method in methods if (found := self.evidence.number(self.setting, method))}
        if len(numbers) < least:
            raise NotRun(methods)
        return numbers

    def part(self, one: str, two: str, low: float, high: float = math.inf) -> Part:
        """The difference of two methods, which must lie above `low` and not above `high`."""
        label = f"{self.where}: {self.called(one)} − {self.called(two)}"
        return Part(label, difference(*self.numbers(one, two)), low, high)

    def untested(self, reason: NotRun) -> Item:
        found = [self.evidence.numbers.get((self.setting, method)) for method in reason.methods]
        why = "only on stand-in data" if any(number and number.data == "stand-in" for number in found) else "not run"
        return Item(f"{self.where}: {why}", None, tested=0, named=reason.named)


def shown(found: Number) -> str:
    return f"{found.mean:.2f}"
