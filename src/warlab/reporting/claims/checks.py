"""The kinds of statement that config/claims.yaml may make. Each takes evidence and settings and returns items: one
comparison each, which holds, does not hold, or cannot be tested here.

An item consists of parts, numbers that must each lie in a range: "the best" means that the difference to every other
method is above 0. Their intervals say whether the item is decided. A check takes what is there: `best` among four of
twelve methods says so in its item, and is then no verdict on all twelve.
"""

import math
from collections.abc import Callable

import numpy as np

from warlab.reporting.claims.evidence import Evidence, Setting
from warlab.reporting.claims.items import Item, Part, Settings, pair, present, shown, untested
from warlab.reporting.claims.rank_checks import average_rank, rank_against
from warlab.reporting.stats import intervals
from warlab.reporting.tables.grid import signed


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
    there = present(evidence, setting, others)
    if ours is None or not there:
        return untested(evidence, setting, [method, *others])
    rival = max(there, key=lambda other: there[other].mean)
    gap = ours.mean - there[rival].mean
    among = f" (best of {len(there)} of {len(others)})" if len(others) > 1 else ""
    text = (
        f"{evidence.where(setting)}: {evidence.called(method)} {shown(ours)}, {evidence.called(rival)} "
        f"{shown(there[rival])}{among}, {signed(gap)}"
    )
    parts = [
        pair(evidence, setting, method, other, (ours, found), low, high if other == rival else math.inf)
        for other, found in there.items()
    ]
    rounded = round(gap, 6)  # 90.41 − 89.74 is 0.6700000000000017 in binary
    sources = (ours.source, *(found.source for found in there.values()))
    return Item(text, low < rounded <= high, tuple(parts), sources, whole=len(there) == len(others))


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
            items.append(untested(evidence, setting, [left, right]))
            continue
        found = intervals.ratio(one, two)
        names = evidence.called(left), evidence.called(right)
        text = f"{evidence.where(setting)}: {names[0]} {shown(one)} / {names[1]} {shown(two)} = {found.value:.3f}"
        part = Part(f"{evidence.where(setting)}: {names[0]} / {names[1]}", found, at_least, at_most)
        items.append(Item(text, at_least <= found.value <= at_most, (part,), (one.source, two.source)))
    return items


def increasing(evidence: Evidence, settings: Settings, methods: list[str]) -> list[Item]:
    """Each method has more than the one before it; methods that are not there are skipped."""
    items = []
    for setting in settings:
        there = present(evidence, setting, methods)
        if len(there) < 2:
            items.append(untested(evidence, setting, methods))
            continue
        text = f"{evidence.where(setting)}: " + ", ".join(f"{evidence.called(m)} {shown(n)}" for m, n in there.items())
        steps = zip(list(there)[1:], there, strict=False)
        parts = tuple(pair(evidence, setting, one, two, (there[one], there[two]), 0.0) for one, two in steps)
        holds = all(part.estimate.value > 0 for part in parts)
        sources = tuple(number.source for number in there.values())
        items.append(Item(text, holds, parts, sources, whole=len(there) == len(methods)))
    return items


def close(evidence: Evidence, settings: Settings, methods: list[str], within: float) -> list[Item]:
    """The highest and the lowest of the methods are at most `within` points apart."""
    items = []
    for setting in settings:
        there = present(evidence, setting, methods)
        if len(there) < 2:
            items.append(untested(evidence, setting, methods))
            continue
        order = sorted(there, key=lambda method: -there[method].mean)
        high, low = there[order[0]].mean, there[order[-1]].mean
        text = f"{evidence.where(setting)}: from {low:.2f} to {high:.2f}, {len(there)} of {len(methods)}"
        pairs = [(one, two) for number, one in enumerate(order) for two in order[number + 1 :]]
        parts = [pair(evidence, setting, one, two, (there[one], there[two]), -within, within) for one, two in pairs]
        sources = tuple(number.source for number in there.values())
        holds = round(high - low, 6) <= within
        items.append(Item(text, holds, tuple(parts), sources, whole=len(there) == len(methods)))
    return items


def number(
    evidence: Evidence, settings: Settings, method: str, at_least: float = -math.inf, at_most: float = math.inf
) -> list[Item]:
    """The method's number lies between two limits."""
    items = []
    for setting in settings:
        found = evidence.number(setting, method)
        if found is None:
            items.append(untested(evidence, setting, [method]))
            continue
        label = f"{evidence.where(setting)}: {evidence.called(method)}"
        part = Part(label, intervals.single(found), at_least, at_most)
        items.append(Item(f"{label} {shown(found)}", at_least <= found.mean <= at_most, (part,), (found.source,)))
    return items


def difference_of_readings(
    evidence: Evidence, settings: Settings, method: str, high: str, low: str, at_least: float
) -> list[Item]:
    """One reading of the same runs lies above another one by `at_least`."""
    items = []
    for setting in settings:
        one, two = (evidence.number(setting._replace(metric=reading), method) for reading in (high, low))
        if one is None or two is None:
            items.append(untested(evidence, setting, [method]))
            continue
        names = high.replace("_", " "), low.replace("_", " ")
        label = f"{evidence.where(setting)}: {evidence.called(method)}"
        gap = one.mean - two.mean
        text = f"{label} {names[0]} {shown(one)}, {names[1]} {shown(two)}, {signed(gap)}"
        part = Part(f"{label} {names[0]} − {names[1]}", intervals.difference(one, two), at_least)
        items.append(Item(text, gap > at_least, (part,), (one.source,)))
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
                items.append(untested(evidence, setting, [method]))
                continue
            mean = float(np.mean([found.mean for found in there]))
            text = f"{evidence.where(setting)}: {evidence.called(method)} {shown(whole)}, mean of the parts {mean:.2f}"
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
