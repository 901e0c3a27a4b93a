"""One comparison of a claim: numbers that must each lie in a range, and whether their intervals decide it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from warlab.reporting.claims.evidence import Evidence
from warlab.reporting.setting import ACCURACY, Setting
from warlab.reporting.stats import intervals
from warlab.reporting.stats.intervals import LEVEL, PRINTED, Estimate, Number
from warlab.reporting.tables.labels import name


class Part(NamedTuple):
    """A number that must lie above `low` and not above `high`."""

    label: str
    estimate: Estimate
    low: float
    high: float = math.inf

    @property
    def margin(self) -> float:
        """How far the number is from the nearer limit; negative outside."""
        return min(self.estimate.value - self.low, self.high - self.estimate.value)

    def is_inside(self) -> bool:
        low, high = self.estimate.interval()
        return self.low < low and high < self.high

    def is_outside(self, parts: int) -> bool:
        """At a level that allows for as many chances to be outside as there are parts (Bonferroni)."""
        low, high = self.estimate.interval(1 - (1 - LEVEL) / parts)
        return high < self.low or self.high < low


@dataclass(frozen=True)
class Item:
    """One comparison: `holds` goes by the numbers alone, None where it cannot be made; `decided` by their intervals.

    tested, named  how many settings it rests on, and how many of them the claim names
    whole          whether every method that the claim names was there
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
    """A check needs methods that have no number on real data here."""

    def __init__(self, methods: Sequence[str], named: int = 1) -> None:
        super().__init__()
        self.methods, self.named = methods, named


class Case(NamedTuple):
    """One setting of a claim, with the evidence on it. What it is asked for and does not have is `NotRun`."""

    evidence: Evidence
    setting: Setting

    @property
    def where(self) -> str:
        metric = [] if self.setting.metric == ACCURACY else [self.setting.metric.replace("_", " ")]
        return ", ".join([self.setting.called(self.evidence.labels), *metric])

    def called(self, method: str) -> str:
        return name(self.evidence.labels, "method", method)

    def numbers(self, *methods: str, metric: str = "") -> list[Number]:
        setting = self.setting._replace(metric=metric or self.setting.metric)
        found = [number for method in methods if (number := self.evidence.number(setting, method))]
        if len(found) < len(methods):
            raise NotRun(methods)
        return found

    def present(self, methods: Sequence[str], least: int = 0) -> dict[str, Number]:
        """Those of the methods that have a number."""
        there = {method: found for method in methods if (found := self.evidence.number(self.setting, method))}
        if len(there) < least:
            raise NotRun(methods)
        return there

    def part(self, one: str, two: str, low: float, high: float = math.inf) -> Part:
        """The difference of two methods, which must lie above `low` and not above `high`."""
        label = f"{self.where}: {self.called(one)} − {self.called(two)}"
        return Part(label, intervals.difference(*self.numbers(one, two)), low, high)

    def untested(self, reason: NotRun) -> Item:
        found = [self.evidence.numbers.get((self.setting, method)) for method in reason.methods]
        why = "only on stand-in data" if any(number and number.data == "stand-in" for number in found) else "not run"
        return Item(f"{self.where}: {why}", None, tested=0, named=reason.named)


def shown(found: Number) -> str:
    return f"{found.mean:.2f}"
