"""The kinds of statement that config/claims.yaml may make. A check is a function here, found by its name.

A function with `@in_each_setting` judges one setting of a claim and returns an item: one comparison, which holds, does
not hold, or cannot be tested here. One with `@over_settings` takes all settings at once and returns a list of items.
An item consists of parts, numbers that must each lie in a range: "the best" means that the difference to every other
method is above 0. Their intervals say whether the item is decided. A check uses the methods that were run: `best` among
four of twelve methods says so in its item, which is then no verdict on all twelve.
"""

import functools
import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.stats import rankdata

from warlab.common.seeds import derive_seed
from warlab.reporting import stats
from warlab.reporting.claims.evidence import Case, Evidence, Item, NotRun, Part, shown
from warlab.reporting.formats import signed
from warlab.reporting.read.results import Scenario
from warlab.reporting.stats import Estimate, Number

Check = Callable[..., list[Item]]  # of evidence, settings and the arguments in the claim's `with`
CHECKS: dict[str, Check] = {}
NO_SETTING = Scenario("", "", "")  # of a claim that is about no setting, such as a proposition


def over_settings(check: Check) -> Check:
    """Register a check of all settings of a claim."""

    @functools.wraps(check)
    def judged(evidence: Evidence, settings: Sequence[Scenario], *given: object, **named: object) -> list[Item]:
        cases = [Case(evidence, setting) for setting in settings or [NO_SETTING]]
        try:
            return check(cases, *given, **named)
        except NotRun as reason:
            return [cases[0].untested(reason)]

    CHECKS[check.__name__] = judged
    return judged


def in_each_setting(check: Callable[..., Item]) -> Check:
    """Register a check of one setting; what is missing in one setting does not concern the others."""

    @functools.wraps(check)
    def judged(cases: Sequence[Case], *given: object, **named: object) -> list[Item]:
        return [_tested(check, case, *given, **named) for case in cases]

    return over_settings(judged)


def _tested(check: Callable[..., Item], case: Case, *given: object, **named: object) -> Item:
    try:
        return check(case, *given, **named)
    except NotRun as reason:
        return case.untested(reason)


@in_each_setting
def best(case: Case, method: str, among: list[str]) -> Item:
    """The method has the highest number of all in each setting."""
    return _against_best(case, method, [other for other in among if other != method], 0.0, math.inf)


@in_each_setting
def difference(case: Case, left: str, right: str | list[str], at_least: float = 0.0, at_most: float = math.inf) -> Item:
    """left minus right (the best of several) lies above `at_least` and not above `at_most`, in points."""
    return _against_best(case, left, [right] if isinstance(right, str) else right, at_least, at_most)


def _against_best(case: Case, method: str, others: list[str], low: float, high: float) -> Item:
    present = case.present([method, *others])
    ours, rivals = present.get(method), {other: present[other] for other in others if other in present}
    if ours is None or not rivals:
        raise NotRun([method, *others])
    rival = max(rivals, key=lambda other: rivals[other].mean)
    gap = ours.mean - rivals[rival].mean
    among = f" (best of {len(rivals)} of {len(others)})" if len(others) > 1 else ""
    text = (
        f"{case.where}: {case.called(method)} {shown(ours)}, {case.called(rival)} {shown(rivals[rival])}{among}, "
        f"{signed(gap)}"
    )
    parts = tuple(case.part(method, other, low, high if other == rival else math.inf) for other in rivals)
    rounded = round(gap, 6)  # 90.41 − 89.74 is 0.6700000000000017 in binary
    sources = (ours.source, *(found.source for found in rivals.values()))
    return Item(text, low < rounded <= high, parts, sources, whole=len(rivals) == len(others))


@in_each_setting
def ratio(case: Case, left: str, right: str, at_least: float = 0.0, at_most: float = math.inf) -> Item:
    """left / right, say of seconds, lies between two limits."""
    one, two = case.numbers(left, right)
    found, names = stats.ratio(one, two), (case.called(left), case.called(right))
    text = f"{case.where}: {names[0]} {shown(one)} / {names[1]} {shown(two)} = {found.value:.3f}"
    part = Part(f"{case.where}: {names[0]} / {names[1]}", found, at_least, at_most)
    return Item(text, at_least <= found.value <= at_most, (part,), (one.source, two.source))


@in_each_setting
def increasing(case: Case, methods: list[str]) -> Item:
    """Each method has more than the one before it; methods that were not run are skipped."""
    present = case.present(methods, least=2)
    text = f"{case.where}: " + ", ".join(f"{case.called(m)} {shown(n)}" for m, n in present.items())
    parts = tuple(case.part(one, two, 0.0) for one, two in zip(list(present)[1:], present, strict=False))
    holds = all(part.estimate.value > 0 for part in parts)
    return Item(text, holds, parts, _sources(present), whole=len(present) == len(methods))


@in_each_setting
def close(case: Case, methods: list[str], within: float) -> Item:
    """The highest and the lowest of the methods are at most `within` points apart."""
    present = case.present(methods, least=2)
    order = sorted(present, key=lambda method: -present[method].mean)
    high, low = present[order[0]].mean, present[order[-1]].mean
    text = f"{case.where}: from {low:.2f} to {high:.2f}, {len(present)} of {len(methods)}"
    pairs = [(one, two) for number, one in enumerate(order) for two in order[number + 1 :]]
    parts = tuple(case.part(one, two, -within, within) for one, two in pairs)
    return Item(text, round(high - low, 6) <= within, parts, _sources(present), whole=len(present) == len(methods))


@in_each_setting
def number(case: Case, method: str, at_least: float = -math.inf, at_most: float = math.inf) -> Item:
    """The method's number lies between two limits."""
    (found,) = case.numbers(method)
    label = f"{case.where}: {case.called(method)}"
    part = Part(label, stats.single(found), at_least, at_most)
    return Item(f"{label} {shown(found)}", at_least <= found.mean <= at_most, (part,), (found.source,))


@in_each_setting
def difference_of_readings(case: Case, method: str, high: str, low: str, at_least: float) -> Item:
    """One reading of the same runs lies above another one by `at_least`."""
    (one,), (two,) = (case.numbers(method, metric=reading) for reading in (high, low))
    names = high.replace("_", " "), low.replace("_", " ")
    label, gap = f"{case.where}: {case.called(method)}", one.mean - two.mean
    text = f"{label} {names[0]} {shown(one)}, {names[1]} {shown(two)}, {signed(gap)}"
    part = Part(f"{label} {names[0]} − {names[1]}", stats.difference(one, two), at_least)
    return Item(text, gap > at_least, (part,), (one.source,))


@over_settings
def mean_of(cases: Sequence[Case], methods: list[str], parts: list[str], within: float) -> list[Item]:
    """The metric of the setting is the mean of other metrics of the same method."""
    return [_tested(_mean_of, case, method, parts, within) for case in cases for method in methods]


def _mean_of(case: Case, method: str, parts: list[str], within: float) -> Item:
    (whole,) = case.numbers(method)
    mean = float(np.mean([case.numbers(method, metric=part)[0].mean for part in parts]))
    text = f"{case.where}: {case.called(method)} {shown(whole)}, mean of the parts {mean:.2f}"
    return Item(text, abs(whole.mean - mean) <= within, rests_on=(whole.source,))


@in_each_setting
def proposition(case: Case, name: str) -> Item:
    """A statement of warlab.ot.propositions, computed on random predictions."""
    found = case.evidence.propositions.get(name)
    if found is None:
        return Item("computed on random predictions, not read from a table", None)
    text = f"fails in {found['failed']} of {found['trials']} trials, largest violation {found['largest']:.2g}"
    return Item(text, bool(found["holds"]), rests_on=("propositions.json",))


@over_settings
def average_rank(cases: Sequence[Case], method: str, among: list[str], at_most: int = 1) -> list[Item]:
    """The method's average rank over the settings is among the `at_most` lowest."""
    complete = [case for case in cases if case.present([method])]
    shared = [other for other in among if all(case.present([other]) for case in complete)]
    if not complete or len(shared) < 3 or method not in shared:
        raise NotRun(among, len(cases))
    named = complete[0].called(method)
    numbers = [case.numbers(*shared) for case in complete]
    average = dict(zip(shared, _average_ranks(numbers), strict=True))
    place = sorted(average.values()).index(average[method]) + 1
    text = (
        f"{named} has average rank {average[method]:.1f}, place {place} of {len(shared)} methods, "
        f"over {len(complete)} of {len(cases)} settings"
    )
    lead = _lead(numbers, shared.index(method), at_most)
    part = Part(f"rank of the next − rank of {named}", lead, 0)
    sources = tuple(number.source for row in numbers for number in row)
    return [Item(text, place <= at_most, (part,), sources, len(complete), len(cases), len(shared) == len(among))]


def _average_ranks(numbers: Sequence[Sequence[Number]]) -> np.ndarray:
    return np.mean([rankdata([-number.mean for number in row]) for row in numbers], axis=0)


def _lead(numbers: Sequence[Sequence[Number]], index: int, at_most: int) -> Estimate:
    """The distance from the average rank of the method `index` to that of the first one that must come after it. Each
    setting is resampled by itself, since settings differ more than seeds do."""
    generator = np.random.default_rng(derive_seed("ranks", *(number.mean for row in numbers for number in row)))
    drawn = [stats.draw_means(row, generator) for row in numbers]
    draws = np.mean([rankdata(-means, axis=-1) for means, _ in drawn], axis=0)
    value = _before(_average_ranks(numbers)[None], index, at_most)[0]
    if not all(basis for _, basis in drawn):
        return Estimate(value)
    words = ", ".join(dict.fromkeys(basis for _, basis in drawn))
    if words == stats.PRINTED:
        return Estimate(value, 0.0, basis=words)
    return Estimate(value, basis=words, draws=_before(draws, index, at_most))


def _before(average: np.ndarray, index: int, at_most: int) -> np.ndarray:
    others = np.sort(np.delete(average, index, axis=-1), axis=-1)
    return others[..., at_most - 1] - average[..., index]


@in_each_setting
def rank_against(case: Case, methods: list[str], against: str, of: int, at_most: int) -> Item:
    """All `methods` are among the `at_most` highest, compared with those whose id begins with `against` (`of` in the
    paper)."""
    present = sorted(method for at, method in case.evidence.numbers if at == case.setting)
    rivals = case.present([method for method in present if method.startswith(against)])
    ours = case.present(methods)
    if len(ours) < len(methods) or not rivals:
        raise NotRun([*methods, against])
    both = ours | rivals
    order = sorted(both, key=lambda m: -both[m].mean)
    places = {method: order.index(method) + 1 for method in ours}
    text = (
        f"{case.where}: "
        + ", ".join(f"{case.called(m)} place {place} ({shown(ours[m])})" for m, place in places.items())
        + f" among {len(rivals)} of {of} others, the best at {max(n.mean for n in rivals.values()):.2f}"
    )
    below = sorted(rivals, key=lambda m: -rivals[m].mean)[at_most - len(ours) :]
    parts = tuple(case.part(m, o, 0.0) for m in ours for o in below)
    return Item(text, max(places.values()) <= at_most, parts, _sources(both), whole=len(rivals) >= of)


def _sources(numbers: dict[str, Number]) -> tuple[str, ...]:
    return tuple(number.source for number in numbers.values())
