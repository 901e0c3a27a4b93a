"""The kinds of statement that config/claims.yaml may make. A check is a function here, found by its name.

A check judges one setting of a claim, except `rank`, which averages over all. It returns an item: one comparison, which
holds, does not hold, or cannot be tested here. An item consists of parts, numbers that must each lie in a range: "the
best" means that the difference to every other method is above 0. A check uses the methods that were run: `best` among
four of twelve methods says so in its item, which is then no verdict on all twelve.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from warlab.common.seeds import derive_seed
from warlab.reporting import stats
from warlab.reporting.claims.evidence import Evidence
from warlab.reporting.formats import signed
from warlab.reporting.names import display_name
from warlab.reporting.read.numbers import Number
from warlab.reporting.read.results import ACCURACY, Scenario
from warlab.reporting.stats import LEVEL, PRINTED, Estimate


class Part(NamedTuple):
    """A number that must lie above `low` and not above `high`; `sources` are the runs or tables that it rests on."""

    label: str
    estimate: Estimate
    low: float
    high: float = math.inf
    sources: tuple[str, ...] = ()

    @property
    def excess(self) -> float:
        """Return how far the number itself is outside the range; negative inside."""
        value = round(self.estimate.value, 6)  # 90.41 − 89.74 is 0.6700000000000017 in binary
        return max(self.low - value, value - self.high)

    @property
    def holds(self) -> bool:
        return self.excess < 0 or (self.excess == 0 and round(self.estimate.value, 6) == self.high)

    def clearance(self, inside: bool, level: float) -> float:
        """Return how far the whole interval is inside the range, or outside it; negative if it is not."""
        low, high = self.estimate.interval(level)
        if not math.isfinite(low):
            return -math.inf
        return min(low - self.low, self.high - high) if inside else max(self.low - high, low - self.high)


@dataclass(frozen=True)
class Item:
    """One comparison. `holds` goes by the numbers alone, `decided` by their intervals; None if there is no answer.

    tested, named  the number of settings that it rests on, and of those that the claim names
    complete       whether every method that the claim names was run
    """

    text: str
    holds: bool | None
    parts: Sequence[Part] = ()
    tested: int = 1
    named: int = 1
    complete: bool = True

    @property
    def level(self) -> float:
        """Return the level of the intervals. To hold, all parts must be inside, each at 95 %. One part outside is
        enough to refute, so its level is corrected for the number of parts (Bonferroni)."""
        return LEVEL if self.holds else 1 - (1 - LEVEL) / max(1, len(self.parts))

    @property
    def decisive(self) -> Part | None:
        """Return the part that decides: the interval nearest to its limit if all must be inside; else the number
        farthest outside, if possible one whose whole interval is outside."""
        if self.holds:
            return min(self.parts, key=lambda part: part.clearance(True, self.level), default=None)
        return max(self.parts, key=lambda part: (part.clearance(False, self.level) > 0, part.excess), default=None)

    @property
    def decided(self) -> bool | None:
        if self.holds is None or self.decisive is None or all(part.estimate.basis == PRINTED for part in self.parts):
            return self.holds
        return self.holds if self.decisive.clearance(self.holds, self.level) > 0 else None


class NotRun(Exception):
    """A check needs methods, its arguments, that have no number on real data."""


class Case(NamedTuple):
    """One setting of a claim, with the evidence on it. It raises `NotRun` for numbers that it does not have."""

    evidence: Evidence
    setting: Scenario

    @property
    def title(self) -> str:
        metric = [] if self.setting.metric == ACCURACY else [self.setting.metric.replace("_", " ")]
        return ", ".join([self.setting.display_name(self.evidence.labels), *metric])

    def name(self, method: str) -> str:
        return display_name(self.evidence.labels, "method", method)

    def text(self, method: str, number: Number) -> str:
        return f"{self.name(method)} {number.mean:.2f}"

    def number(self, method: str, metric: str = "") -> Number:
        number = self.evidence.number(self.setting._replace(metric=metric or self.setting.metric), method)
        if number is None:
            raise NotRun(method)
        return number

    def numbers(self, methods: Sequence[str], least: int = 1) -> dict[str, Number]:
        """Return the numbers of those methods that have one, which must be `least` methods or more."""
        numbers = {method: number for method in methods if (number := self.evidence.number(self.setting, method))}
        if len(numbers) < least:
            raise NotRun(*methods)
        return numbers

    def part(self, one: str, two: str, low: float, high: float = math.inf) -> Part:
        """Return the difference of two methods, which must lie above `low` and not above `high`."""
        numbers = self.number(one), self.number(two)
        label = f"{self.title}: {self.name(one)} − {self.name(two)}"
        return Part(label, stats.difference(*numbers), low, high, sources(*numbers))

    def item(self, text: str, parts: Sequence[Part], complete: bool = True) -> Item:
        return Item(f"{self.title}: {text}", all(part.holds for part in parts), parts, complete=complete)

    def untested(self, methods: Sequence[str]) -> Item:
        numbers = [self.evidence.numbers.get((self.setting, method)) for method in methods]
        reason = "only on stand-in data" if any(n and n.data == "stand-in" for n in numbers) else "not run"
        return Item(f"{self.title}: {reason}", None, tested=0)


Check = Callable[..., Item]  # of a case and the arguments in the claim's `with`
CHECKS: dict[str, Check] = {}


def register(check: Check) -> Check:
    """Let claims use a function by its name."""
    CHECKS[check.__name__] = check
    return check


def sources(*numbers: Number) -> tuple[str, ...]:
    return tuple(number.source for number in numbers)


@register
def best(case: Case, method: str | list[str], among: list[str] | None = None, against: str = "", of: int = 0) -> Item:
    """Check that the method, or each of several, is better than all others: those in `among`, or those whose id begins
    with `against`, of which the paper has `of`."""
    methods = [method] if isinstance(method, str) else method
    if against:
        among = sorted(id for at, id in case.evidence.numbers if at == case.setting and id.startswith(against))
    others = [other for other in among or [] if other not in methods]
    ours, rivals = case.numbers(methods, least=len(methods)), case.numbers(others)
    return _compare(case, ours, rivals, of or len(others), 0.0, math.inf)


@register
def difference(
    case: Case,
    left: str | list[str],
    right: str | list[str] | None = None,
    at_least: float = 0.0,
    at_most: float = math.inf,
    left_metric: str = "",
) -> Item:
    """Check that left minus right (the best of several) lies above `at_least` and not above `at_most`, in points.

    Without `right`, `left` itself does, or if `left` names several methods, each minus the one before it.
    `left_metric` is for a difference of two metrics of the same method.
    """
    if isinstance(left, list):
        numbers = case.numbers(left, least=2)
        text = ", ".join(case.text(method, number) for method, number in numbers.items())
        pairs = zip(list(numbers)[1:], numbers, strict=False)
        return case.item(text, [case.part(*pair, at_least, at_most) for pair in pairs], len(numbers) == len(left))
    if right is None:
        number = case.number(left)
        label, origin = f"{case.title}: {case.name(left)}", sources(number)
        part = Part(label, stats.difference(number), at_least, at_most, origin)
        return case.item(case.text(left, number), [part])
    if left_metric:
        one, two = case.number(left, left_metric), case.number(left)
        names = [metric.replace("_", " ") for metric in (left_metric, case.setting.metric)]
        estimate = stats.difference(one, two)
        text = f"{case.name(left)} {names[0]} {one.mean:.2f}, {names[1]} {two.mean:.2f}, {signed(estimate.value)}"
        label = f"{case.title}: {case.name(left)} {names[0]} − {names[1]}"
        return case.item(text, [Part(label, estimate, at_least, at_most, sources(one))])
    others = [right] if isinstance(right, str) else right
    return _compare(case, case.numbers([left]), case.numbers(others), len(others), at_least, at_most)


def _compare(
    case: Case, ours: dict[str, Number], rivals: dict[str, Number], named: int, low: float, high: float
) -> Item:
    """Compare each of our methods with each rival. An upper limit is for the best rival only."""
    rival = max(rivals, key=lambda other: rivals[other].mean)
    gap = min(number.mean for number in ours.values()) - rivals[rival].mean
    among = f" (best of {len(rivals)} of {named})" if named > 1 else ""
    numbers = ", ".join(case.text(method, number) for method, number in ours.items())
    text = f"{numbers}, {case.text(rival, rivals[rival])}{among}, {signed(gap)}"
    parts = [case.part(one, two, low, high if two == rival else math.inf) for one in ours for two in rivals]
    return case.item(text, parts, complete=len(rivals) >= named)


@register
def close(case: Case, methods: list[str], within: float, parts: list[str] | None = None) -> Item:
    """Check that the highest and the lowest of the methods are at most `within` points apart. With `parts`, check that
    each method's number is that close to the mean of these metrics, as printed."""
    numbers = case.numbers(methods, least=1 if parts else 2)
    complete = len(numbers) == len(methods)
    if parts:
        means = {m: float(np.mean([case.number(m, metric).mean for metric in parts])) for m in numbers}
        texts = [f"{case.text(m, number)}, mean of the parts {means[m]:.2f}" for m, number in numbers.items()]
        gaps = {m: Estimate(number.mean - means[m], 0.0) for m, number in numbers.items()}
        limits = [
            Part(f"{case.title}: {case.name(m)}", gap, -within, within, sources(numbers[m])) for m, gap in gaps.items()
        ]
        return case.item("; ".join(texts), limits, complete)
    order = sorted(numbers, key=lambda method: -numbers[method].mean)
    text = f"from {numbers[order[-1]].mean:.2f} to {numbers[order[0]].mean:.2f}, {len(numbers)} of {len(methods)}"
    return case.item(text, [case.part(*pair, -within, within) for pair in combinations(order, 2)], complete)


@register
def ratio(case: Case, left: str, right: str, at_least: float = 0.0, at_most: float = math.inf) -> Item:
    """Check that left / right, for example of seconds, lies between two limits."""
    one, two = case.number(left), case.number(right)
    estimate = stats.ratio(one, two)
    label = f"{case.title}: {case.name(left)} / {case.name(right)}"
    text = f"{case.text(left, one)} / {case.text(right, two)} = {estimate.value:.3f}"
    return case.item(text, [Part(label, estimate, at_least, at_most, sources(one, two))])


@register
def proposition(case: Case, name: str) -> Item:
    """Judge a statement of warlab.ot.propositions, computed on random predictions."""
    result = case.evidence.propositions.get(name)
    if result is None:
        return Item("computed on random predictions, not read from a table", None)
    text = f"fails in {result['failed']} of {result['trials']} trials, largest violation {result['largest']:.2g}"
    return Item(text, bool(result["holds"]))


@register
def rank(cases: Sequence[Case], method: str, among: list[str], at_most: int = 1) -> Item:
    """Check that the method's average rank over the settings is among the `at_most` lowest."""
    tested = [case for case in cases if case.numbers([method], least=0)]
    shared = [other for other in among if all(case.numbers([other], least=0) for case in tested)]
    if not tested or len(shared) < max(3, at_most + 1):
        return replace(cases[0].untested(among), named=len(cases))
    numbers, own = [[case.number(other) for other in shared] for case in tested], shared.index(method)
    means = np.array([[[number.mean for number in row]] for row in numbers])
    # Each setting varies by itself, since settings differ more than seeds do.
    generator = np.random.default_rng(derive_seed("ranks", *means.ravel().tolist()))
    drawn, bases = zip(*(stats.draw_means(row, generator) for row in numbers), strict=True)

    def lead(ranks: np.ndarray) -> np.ndarray:
        """Return the distance to the rank of the first method that must come after."""
        return np.asarray(np.sort(np.delete(ranks, own, axis=-1), axis=-1)[..., at_most - 1] - ranks[..., own])

    ranks = stats.average_ranks(means)
    estimate = Estimate(float(lead(ranks)[0]))
    if all(bases):
        draws = lead(stats.average_ranks(np.array(drawn)))
        estimate = replace(estimate, basis=", ".join(dict.fromkeys(bases)), draws=draws)
    name, place = cases[0].name(method), 1 + int((ranks[0] < ranks[0, own]).sum())
    text = (
        f"{name} has average rank {ranks[0, own]:.1f}, place {place} of {len(shared)} methods, "
        f"over {len(tested)} of {len(cases)} settings"
    )
    origin = sources(*(number for row in numbers for number in row))
    part = Part(f"rank of the next − rank of {name}", estimate, 0, sources=origin)
    return Item(text, part.holds, [part], len(tested), len(cases), len(shared) == len(among))


def judge_settings(check: str, evidence: Evidence, settings: Sequence[Scenario], **arguments: object) -> list[Item]:
    """Apply a check to each setting of a claim; what is missing in one setting does not concern the others."""
    cases = [Case(evidence, setting) for setting in settings or [Scenario("", "", "")]]
    if CHECKS[check] is rank:
        return [CHECKS[check](cases, **arguments)]
    items = []
    for case in cases:
        try:
            items.append(CHECKS[check](case, **arguments))
        except NotRun as reason:
            items.append(case.untested(reason.args))
    return items
