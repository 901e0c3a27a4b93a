"""Checks of claims about ranks."""

import math
from collections.abc import Sequence

import numpy as np

from warlab.common.seeds import derive_seed
from warlab.reporting.claims.evidence import Evidence
from warlab.reporting.claims.items import Item, Part, Settings, pair, present, shown, untested
from warlab.reporting.stats import intervals
from warlab.reporting.stats.intervals import Estimate, Number


def average_rank(evidence: Evidence, settings: Settings, method: str, among: list[str], at_most: int = 1) -> list[Item]:
    """The method's average rank over the settings is among the `at_most` lowest."""
    complete = [s for s in settings if evidence.number(s, method)]
    shared = [other for other in among if all(evidence.number(s, other) for s in complete)]
    if not complete or len(shared) < 3 or method not in shared:
        return [untested(evidence, setting, among, len(settings)) for setting in settings[:1]]
    numbers = [[n for other in shared if (n := evidence.number(s, other))] for s in complete]
    average = dict(zip(shared, _average_ranks(numbers), strict=True))
    place = sorted(average.values()).index(average[method]) + 1
    text = (
        f"{evidence.called(method)} has average rank {average[method]:.1f}, place {place} of {len(shared)} methods, "
        f"over {len(complete)} of {len(settings)} settings"
    )
    part = Part(
        f"rank of the next − rank of {evidence.called(method)}", _lead(numbers, shared.index(method), at_most), 0
    )
    sources = tuple(number.source for row in numbers for number in row)
    whole = len(shared) == len(among)
    return [Item(text, place <= at_most, (part,), sources, len(complete), len(settings), whole)]


def _average_ranks(numbers: Sequence[Sequence[Number]]) -> np.ndarray:
    return np.mean([_ranks(np.array([number.mean for number in row])) for row in numbers], axis=0)


def _lead(numbers: Sequence[Sequence[Number]], own: int, at_most: int) -> Estimate:
    """How far the average rank stands before that of the first method that must come after it; resampled in each
    setting by itself, since settings differ more than seeds do."""
    generator = np.random.default_rng(derive_seed("ranks", *(number.mean for row in numbers for number in row)))
    drawn = [intervals.resampled(row, generator) for row in numbers]
    draws = np.mean([_ranks(means) for means, _ in drawn], axis=0)
    value = _before(_average_ranks(numbers)[None], own, at_most)[0]
    if not all(basis for _, basis in drawn):
        return Estimate(value)
    before = _before(draws, own, at_most)
    words = ", ".join(dict.fromkeys(basis for _, basis in drawn))
    exact = words == intervals.PRINTED
    return Estimate(value, 0.0 if exact else math.nan, basis=words, draws=None if exact else before)


def _before(average: np.ndarray, own: int, at_most: int) -> np.ndarray:
    others = np.sort(np.delete(average, own, axis=-1), axis=-1)
    return others[..., at_most - 1] - average[..., own]


def _ranks(means: np.ndarray) -> np.ndarray:
    """(…, methods) → the rank of each, 1 the highest, ties share their mean."""
    above = (means[..., None, :] > means[..., :, None]).sum(-1)
    equal = (means[..., None, :] == means[..., :, None]).sum(-1)
    return above + (equal + 1) / 2


def rank_against(
    evidence: Evidence, settings: Settings, methods: list[str], against: str, of: int, at_most: int
) -> list[Item]:
    """All `methods` are among the `at_most` highest beside those whose id begins with `against` (`of` in the paper)."""
    items = []
    for setting in settings:
        rivals = present(evidence, setting, evidence.methods(setting, against))
        ours = present(evidence, setting, methods)
        if len(ours) < len(methods) or not rivals:
            items.append(untested(evidence, setting, [*methods, against]))
            continue
        both = ours | rivals
        order = sorted(both, key=lambda m: -both[m].mean)
        places = {method: order.index(method) + 1 for method in ours}
        best_rival = max(rivals.values(), key=lambda n: n.mean)
        text = (
            f"{evidence.where(setting)}: "
            + ", ".join(f"{evidence.called(m)} place {p} ({shown(ours[m])})" for m, p in places.items())
            + f" among {len(rivals)} of {of} others, the best at {shown(best_rival)}"
        )
        below = sorted(rivals, key=lambda m: -rivals[m].mean)[at_most - len(ours) :]
        parts = [pair(evidence, setting, m, o, (ours[m], rivals[o]), 0.0) for m in ours for o in below]
        sources = tuple(number.source for number in both.values())
        holds = max(places.values()) <= at_most
        items.append(Item(text, holds, tuple(parts), sources, whole=len(rivals) >= of))
    return items
