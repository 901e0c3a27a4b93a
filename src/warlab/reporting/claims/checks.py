"""The kinds of statement that config/claims.yaml may make. A check is a function here, found by its name.

A check judges one setting of a claim, except `rank`, which averages over all. It returns an item: one comparison, which
holds, does not hold, or cannot be tested here. An item consists of parts, numbers that must each lie in a range: "the
best" means that the difference to every other method is above 0. A check uses the methods that were run: `best` among
four of twelve methods says so in its item, which is then no verdict on all twelve.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from warlab.common.seeds import derive_seed
from warlab.reporting import stats
from warlab.reporting.claims.evidence import Evidence
from warlab.reporting.formats import signed
from warlab.reporting.names import display_name
from warlab.reporting.read.results import ACCURACY, Scenario
from warlab.reporting.stats import LEVEL, PRINTED, Estimate, Number


class Part(NamedTuple):
    """A number that must lie above `low` and not above `high`."""

    label: str
    estimate: Estimate
    low: float
    high: float = math.inf

    @property
    def excess(self) -> float:
        """How far the number itself is outside the range; negative inside."""
        return max(self.low - self.estimate.value, self.estimate.value - self.high)

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
    parts: tuple[Part, ...] = ()
    sources: tuple[str, ...] = ()
    tested: int = 1
    named: int = 1
    complete: bool = True

    @property
    def level(self) -> float:
        """All parts must be inside, each at 95 %. One part outside is enough to refute, so that its level is corrected
        for the number of parts (Bonferroni)."""
        return LEVEL if self.holds else 1 - (1 - LEVEL) / max(1, len(self.parts))

    @property
    def decisive(self) -> Part | None:
        """The part on which the answer rests: the interval nearest to its limit if all must be inside; else the number
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
    """A check needs methods that have no number on real data."""

    def __init__(self, methods: Sequence[str]) -> None:
        super().__init__()
        self.methods = methods


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
            raise NotRun([method])
        return number

    def numbers(self, methods: Sequence[str], least: int = 1) -> dict[str, Number]:
        """Return the numbers of those methods that have one, which must be `least` methods or more."""
        numbers = {method: number for method in methods if (number := self.evidence.number(self.setting, method))}
        if len(numbers) < least:
            raise NotRun(methods)
        return numbers

    def part(self, one: str, two: str, low: float, high: float = math.inf) -> Part:
        """Return the difference of two methods, which must lie above `low` and not above `high`."""
        label = f"{self.title}: {self.name(one)} − {self.name(two)}"
        return Part(label, stats.difference(self.number(one), self.number(two)), low, high)

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
    """The method, or each of several, is better than all others: those in `among`, or those whose id begins with
    `against`, of which the paper has `of`."""
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
    """left minus right (the best of several) lies above `at_least` and not above `at_most`, in points.

    Without `right`, `left` itself does, or if `left` names several methods, each minus the one before it.
    `left_metric` is for a difference of two metrics of the same runs.
    """
    if isinstance(left, list):
        return _compare_successive(case, left, at_least, at_most)
    if right is None or left_metric:
        return _compare_metrics(case, left, right, at_least, at_most, left_metric)
    others = [right] if isinstance(right, str) else right
    return _compare(case, case.numbers([left]), case.numbers(others), len(others), at_least, at_most)


def _compare(
    case: Case, ours: dict[str, Number], rivals: dict[str, Number], named: int, low: float, high: float
) -> Item:
    """Compare each of our methods with each rival. An upper limit is for the best rival only."""
    rival = max(rivals, key=lambda other: rivals[other].mean)
    worst = min(ours, key=lambda method: ours[method].mean)
    gap = round(ours[worst].mean - rivals[rival].mean, 6)  # 90.41 − 89.74 is 0.6700000000000017 in binary
    among = f" (best of {len(rivals)} of {named})" if named > 1 else ""
    numbers = ", ".join(case.text(method, number) for method, number in ours.items())
    text = f"{case.title}: {numbers}, {case.text(rival, rivals[rival])}{among}, {signed(gap)}"
    parts = tuple(case.part(one, two, low, high if two == rival else math.inf) for one in ours for two in rivals)
    named_sources = sources(*ours.values(), *rivals.values())
    return Item(text, low < gap <= high, parts, named_sources, complete=len(rivals) >= named)


def _compare_successive(case: Case, methods: list[str], low: float, high: float) -> Item:
    """Compare each method with the one before it; methods that were not run are skipped."""
    numbers = case.numbers(methods, least=2)
    text = f"{case.title}: " + ", ".join(case.text(method, number) for method, number in numbers.items())
    parts = tuple(case.part(one, two, low, high) for one, two in zip(list(numbers)[1:], numbers, strict=False))
    holds = all(low < round(part.estimate.value, 6) <= high for part in parts)
    return Item(text, holds, parts, sources(*numbers.values()), complete=len(numbers) == len(methods))


def _compare_metrics(
    case: Case, left: str, right: str | list[str] | None, low: float, high: float, metric: str
) -> Item:
    one = case.number(left, metric)
    label, estimate, numbers = f"{case.title}: {case.name(left)}", stats.single(one), f"{one.mean:.2f}"
    if isinstance(right, str):
        two, names = case.number(right), [name.replace("_", " ") for name in (metric, case.setting.metric)]
        estimate = stats.difference(one, two)
        numbers = f"{names[0]} {one.mean:.2f}, {names[1]} {two.mean:.2f}, {signed(estimate.value)}"
        part = Part(f"{label} {names[0]} − {names[1]}", estimate, low, high)
    else:
        part = Part(label, estimate, low, high)
    return Item(f"{label} {numbers}", low < round(estimate.value, 6) <= high, (part,), sources(one))


@register
def close(case: Case, methods: list[str], within: float, parts: list[str] | None = None) -> Item:
    """The highest and the lowest of the methods are at most `within` points apart. With `parts`, each method's number
    is that close to the mean of these metrics."""
    if parts:
        return _compare_with_means(case, methods, within, parts)
    numbers = case.numbers(methods, least=2)
    order = sorted(numbers, key=lambda method: -numbers[method].mean)
    high, low = numbers[order[0]].mean, numbers[order[-1]].mean
    text = f"{case.title}: from {low:.2f} to {high:.2f}, {len(numbers)} of {len(methods)}"
    pairs = [(one, two) for place, one in enumerate(order) for two in order[place + 1 :]]
    limits = tuple(case.part(one, two, -within, within) for one, two in pairs)
    complete = len(numbers) == len(methods)
    return Item(text, round(high - low, 6) <= within, limits, sources(*numbers.values()), complete=complete)


def _compare_with_means(case: Case, methods: list[str], within: float, metrics: list[str]) -> Item:
    limits, texts, numbers = [], [], case.numbers(methods)
    for method, number in numbers.items():
        parts = [case.number(method, metric) for metric in metrics]
        seeds = stats.shared_seeds(*parts)
        by_seed = {seed: float(np.mean([part.by_seed[seed] for part in parts])) for seed in seeds}
        mean = replace(
            number, mean=float(np.mean([part.mean for part in parts])), by_seed=by_seed, images={}, tested_on=0
        )
        texts.append(f"{case.text(method, number)}, mean of the parts {mean.mean:.2f}")
        limits.append(Part(f"{case.title}: {case.name(method)}", stats.difference(number, mean), -within, within))
    holds = all(abs(round(part.estimate.value, 6)) <= within for part in limits)
    text, complete = f"{case.title}: {'; '.join(texts)}", len(numbers) == len(methods)
    return Item(text, holds, tuple(limits), sources(*numbers.values()), complete=complete)


@register
def ratio(case: Case, left: str, right: str, at_least: float = 0.0, at_most: float = math.inf) -> Item:
    """left / right, say of seconds, lies between two limits."""
    one, two = case.number(left), case.number(right)
    estimate = stats.ratio(one, two)
    text = f"{case.title}: {case.text(left, one)} / {case.text(right, two)} = {estimate.value:.3f}"
    part = Part(f"{case.title}: {case.name(left)} / {case.name(right)}", estimate, at_least, at_most)
    return Item(text, at_least <= estimate.value <= at_most, (part,), sources(one, two))


@register
def proposition(case: Case, name: str) -> Item:
    """A statement of warlab.ot.propositions, computed on random predictions."""
    result = case.evidence.propositions.get(name)
    if result is None:
        return Item("computed on random predictions, not read from a table", None)
    text = f"fails in {result['failed']} of {result['trials']} trials, largest violation {result['largest']:.2g}"
    return Item(text, bool(result["holds"]), sources=("propositions.json",))


@register
def rank(cases: Sequence[Case], method: str, among: list[str], at_most: int = 1) -> Item:
    """The method's average rank over the settings is among the `at_most` lowest."""
    tested = [case for case in cases if case.numbers([method], least=0)]
    shared = [other for other in among if all(case.numbers([other], least=0) for case in tested)]
    if not tested or len(shared) < max(3, at_most + 1):
        return replace(cases[0].untested(among), named=len(cases))
    numbers = [[case.number(other) for other in shared] for case in tested]
    means = np.array([[[number.mean for number in row]] for row in numbers])
    ranks = stats.average_ranks(means)[0]
    place = 1 + int((ranks < ranks[shared.index(method)]).sum())
    text = (
        f"{cases[0].name(method)} has average rank {ranks[shared.index(method)]:.1f}, place {place} of {len(shared)} "
        f"methods, over {len(tested)} of {len(cases)} settings"
    )
    # Each setting varies by itself, since settings differ more than seeds do.
    generator = np.random.default_rng(derive_seed("ranks", *means.ravel().tolist()))
    drawn, bases = zip(*(stats.draw_means(row, generator) for row in numbers), strict=True)
    lead = Estimate(float(_lead(stats.average_ranks(means), shared.index(method), at_most)[0]))
    if all(bases):
        draws = _lead(stats.average_ranks(np.array(drawn)), shared.index(method), at_most)
        lead = replace(lead, basis=", ".join(dict.fromkeys(bases)), draws=draws)
    part = Part(f"rank of the next − rank of {cases[0].name(method)}", lead, 0)
    named_sources = sources(*(number for row in numbers for number in row))
    complete = len(shared) == len(among)
    return Item(text, place <= at_most, (part,), named_sources, len(tested), len(cases), complete)


def _lead(ranks: np.ndarray, index: int, at_most: int) -> np.ndarray:
    """Return the distance from the rank of a method to that of the first one that must come after it."""
    others = np.sort(np.delete(ranks, index, axis=-1), axis=-1)
    return others[..., at_most - 1] - ranks[..., index]


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
            items.append(case.untested(reason.methods))
    return items
