"""The kinds of statement that config/claims.yaml may make. Each takes evidence and settings and returns items: one
comparison each, which holds, does not hold, or cannot be tested here.

A check takes what is there: `best` among four of twelve methods says "4 of 12 methods" in its item.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from warlab.reporting.evidence import Evidence, Number, Setting
from warlab.reporting.grid import signed


@dataclass(frozen=True)
class Item:
    """One comparison: None where it cannot be made; not clear where it is decided by less than the spread."""

    text: str
    holds: bool | None
    clear: bool = True
    rests_on: tuple[str, ...] = ()


Settings = Sequence[Setting]


def best(evidence: Evidence, settings: Settings, method: str, among: list[str]) -> list[Item]:
    """The method has the highest number of all in each setting."""
    others = [other for other in among if other != method]
    return [_against_best(evidence, setting, method, others, 0.0, math.inf) for setting in settings]


def difference(
    evidence: Evidence,
    settings: Settings,
    left: str,
    right: str | list[str],
    at_least: float = 0.0,
    at_most: float = math.inf,
) -> list[Item]:
    """left minus right (the best of several) lies above `at_least` and not above `at_most`, in points."""
    others = [right] if isinstance(right, str) else right
    return [_against_best(evidence, setting, left, others, at_least, at_most) for setting in settings]


def _against_best(
    evidence: Evidence, setting: Setting, method: str, others: list[str], low: float, high: float
) -> Item:
    ours = evidence.number(setting, method)
    there = {other: found for other in others if (found := evidence.number(setting, other))}
    if ours is None or not there:
        return _untested(evidence, setting, [method, *others])
    rival = max(there, key=lambda other: there[other].mean)
    gap = ours.mean - there[rival].mean
    among = f" (best of {len(there)} of {len(others)})" if len(others) > 1 else ""
    text = (
        f"{evidence.where(setting)}: {evidence.called(method)} {_shown(ours)}, {evidence.called(rival)} "
        f"{_shown(there[rival])}{among}, {signed(gap)}"
    )
    clear = min(abs(gap - low), abs(high - gap)) > math.hypot(ours.spread, there[rival].spread)
    rounded = round(gap, 6)  # 90.41 − 89.74 is 0.6700000000000017 in binary
    return Item(text, low < rounded <= high, clear, (ours.source, *(found.source for found in there.values())))


def average_rank(evidence: Evidence, settings: Settings, method: str, among: list[str], at_most: int = 1) -> list[Item]:
    """The method's average rank over the settings is among the `at_most` lowest."""
    complete = [s for s in settings if evidence.number(s, method)]
    shared = [other for other in among if all(evidence.number(s, other) for s in complete)]
    if not complete or len(shared) < 3 or method not in shared:
        return [_untested(evidence, setting, among) for setting in settings[:1]]
    numbers = {other: [evidence.number(setting, other) for setting in complete] for other in shared}
    means = np.array([[found.mean for found in row if found] for row in numbers.values()])
    ranks = dict(zip(shared, _ranks(means).mean(1), strict=True))
    place = sorted(ranks.values()).index(ranks[method]) + 1
    text = (
        f"{evidence.called(method)} has average rank {ranks[method]:.1f}, place {place} of {len(shared)} methods, "
        f"over {len(complete)} of {len(settings)} settings"
    )
    runner_up = min(value for other, value in ranks.items() if other != method)
    sources = tuple(found.source for row in numbers.values() for found in row if found)
    return [Item(text, place <= at_most, abs(runner_up - ranks[method]) >= 0.5, sources)]


def _ranks(means: np.ndarray) -> np.ndarray:
    """Methods × settings → rank in each column, 1 the highest, ties share their mean."""
    above = (means[None] > means[:, None]).sum(1)
    equal = (means[None] == means[:, None]).sum(1)
    return above + (equal + 1) / 2


def rank_against(
    evidence: Evidence, settings: Settings, methods: list[str], against: str, of: int, at_most: int
) -> list[Item]:
    """All `methods` are among the `at_most` highest beside those whose id begins with `against` (`of` in the paper)."""
    items = []
    for setting in settings:
        rivals = {m: n for m in evidence.methods(setting, against) if (n := evidence.number(setting, m))}
        ours = {m: n for m in methods if (n := evidence.number(setting, m))}
        if len(ours) < len(methods) or not rivals:
            items.append(_untested(evidence, setting, [*methods, against]))
            continue
        order = sorted([*ours, *rivals], key=lambda m: -(ours | rivals)[m].mean)
        places = {method: order.index(method) + 1 for method in ours}
        best_rival = max(rivals.values(), key=lambda n: n.mean)
        text = (
            f"{evidence.where(setting)}: "
            + ", ".join(f"{evidence.called(m)} place {p} ({_shown(ours[m])})" for m, p in places.items())
            + f" among {len(rivals)} of {of} others, the best at {_shown(best_rival)}"
        )
        worst = min(ours.values(), key=lambda n: n.mean)
        clear = abs(worst.mean - best_rival.mean) > math.hypot(worst.spread, best_rival.spread)
        sources = tuple(n.source for n in (ours | rivals).values())
        items.append(Item(text, max(places.values()) <= at_most, clear, sources))
    return items


def ratio(
    evidence: Evidence,
    settings: Settings,
    left: str,
    right: str,
    at_least: float = 0.0,
    at_most: float = math.inf,
) -> list[Item]:
    """left / right, say of seconds, lies between two limits."""
    items = []
    for setting in settings:
        one, two = evidence.number(setting, left), evidence.number(setting, right)
        if one is None or two is None:
            items.append(_untested(evidence, setting, [left, right]))
            continue
        value = one.mean / two.mean
        text = (
            f"{evidence.where(setting)}: {evidence.called(left)} {_shown(one)} / {evidence.called(right)} "
            f"{_shown(two)} = {value:.3f}"
        )
        items.append(Item(text, at_least <= value <= at_most, rests_on=(one.source, two.source)))
    return items


def increasing(evidence: Evidence, settings: Settings, methods: list[str]) -> list[Item]:
    """Each method has more than the one before it; methods that are not there are skipped."""
    items = []
    for setting in settings:
        there = [(method, found) for method in methods if (found := evidence.number(setting, method))]
        if len(there) < 2:
            items.append(_untested(evidence, setting, methods))
            continue
        means = np.array([found.mean for _, found in there])
        text = f"{evidence.where(setting)}: " + ", ".join(f"{evidence.called(m)} {_shown(n)}" for m, n in there)
        clear = bool((np.abs(np.diff(means)) > max(found.spread for _, found in there)).all())
        items.append(Item(text, bool((np.diff(means) > 0).all()), clear, tuple(n.source for _, n in there)))
    return items


def close(evidence: Evidence, settings: Settings, methods: list[str], within: float) -> list[Item]:
    """The highest and the lowest of the methods are at most `within` points apart."""
    items = []
    for setting in settings:
        there = [found for method in methods if (found := evidence.number(setting, method))]
        if len(there) < 2:
            items.append(_untested(evidence, setting, methods))
            continue
        means = [found.mean for found in there]
        apart = max(means) - min(means)
        text = f"{evidence.where(setting)}: from {min(means):.2f} to {max(means):.2f}, {len(there)} of {len(methods)}"
        clear = abs(apart - within) > max(found.spread for found in there)
        items.append(Item(text, apart <= within, clear, tuple(found.source for found in there)))
    return items


def number(
    evidence: Evidence, settings: Settings, method: str, at_least: float = -math.inf, at_most: float = math.inf
) -> list[Item]:
    """The method's number lies between two limits."""
    items = []
    for setting in settings:
        found = evidence.number(setting, method)
        if found is None:
            items.append(_untested(evidence, setting, [method]))
            continue
        clear = min(abs(found.mean - at_least), abs(at_most - found.mean)) > found.spread
        text = f"{evidence.where(setting)}: {evidence.called(method)} {_shown(found)}"
        items.append(Item(text, at_least <= found.mean <= at_most, clear, (found.source,)))
    return items


def difference_of_readings(
    evidence: Evidence, settings: Settings, method: str, high: str, low: str, at_least: float
) -> list[Item]:
    """One reading of the same runs lies above another one by `at_least`."""
    items = []
    for setting in settings:
        one, two = (evidence.number(setting._replace(metric=reading), method) for reading in (high, low))
        if one is None or two is None:
            items.append(_untested(evidence, setting, [method]))
            continue
        text = (
            f"{evidence.where(setting)}: {evidence.called(method)} {high.replace('_', ' ')} {_shown(one)}, "
            f"{low.replace('_', ' ')} {_shown(two)}, {signed(one.mean - two.mean)}"
        )
        clear = abs(one.mean - two.mean - at_least) > max(one.spread, two.spread)
        items.append(Item(text, one.mean - two.mean > at_least, clear, (one.source,)))
    return items


def mean_of(evidence: Evidence, settings: Settings, methods: list[str], parts: list[str], within: float) -> list[Item]:
    """The metric of the setting is the mean of other metrics of the same method."""
    items = []
    for setting in settings:
        for method in methods:
            whole = evidence.number(setting, method)
            numbers = [evidence.number(setting._replace(metric=part), method) for part in parts]
            there = [found for found in numbers if found]
            if whole is None or len(there) < len(parts):
                items.append(_untested(evidence, setting, [method]))
                continue
            mean = float(np.mean([found.mean for found in there]))
            text = f"{evidence.where(setting)}: {evidence.called(method)} {_shown(whole)}, mean of the parts {mean:.2f}"
            items.append(Item(text, abs(whole.mean - mean) <= within, rests_on=(whole.source,)))
    return items


def proposition(evidence: Evidence, settings: Settings, name: str) -> list[Item]:
    """A statement of warlab.ot.propositions, computed on random predictions."""
    found = evidence.propositions.get(name)
    if found is None:
        return [Item("computed on random predictions, not read from a table", None)]
    text = f"fails in {found['failed']} of {found['trials']} trials, largest violation {found['largest']:.2g}"
    return [Item(text, bool(found["holds"]), rests_on=("propositions.json",))]


CHECKS: dict[str, Callable[..., list[Item]]] = {
    check.__name__: check
    for check in (
        best,
        difference,
        average_rank,
        rank_against,
        ratio,
        increasing,
        close,
        number,
        difference_of_readings,
        mean_of,
        proposition,
    )
}


def _untested(evidence: Evidence, setting: Setting, methods: Sequence[str]) -> Item:
    stand_in = any(evidence.is_stand_in(setting, method) for method in methods)
    why = "only on stand-in data" if stand_in else "not run"
    return Item(f"{evidence.where(setting)}: {why}", None)


def _shown(found: Number) -> str:
    return f"{found.mean:.2f}"
