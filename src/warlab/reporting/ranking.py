"""The methods of one setting in the order of their means: the interval of each rank, and the gain over CCE."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from warlab.common.seeds import derive_seed
from warlab.reporting.names import BASELINE
from warlab.reporting.read.numbers import Number, restrict_to_shared_seeds
from warlab.reporting.read.results import CELL
from warlab.reporting.stats import MIN_SEEDS, Estimate, difference, draw_means, holm, p_value, rank_intervals

MARGIN = 2.0  # points; a smaller difference does not count
FEWEST_TO_RANK = 5  # methods


class Ranked(NamedTuple):
    """A row of the ranking: p is corrected by Holm over all rows, time is a multiple of that of CCE."""

    method: str
    mean: float
    ranks: tuple[int, int]
    gain: Estimate
    p: float
    time: float

    @property
    def verdict(self) -> str:
        sure = self.p < 0.05 and abs(self.gain.value) > MARGIN
        return "not distinguished" if not sure else "better" if self.gain.value > 0 else "worse"


def rank(numbers: Mapping[str, Number], times: Mapping[str, float]) -> list[Ranked]:
    """Return the methods in the order of their means over the largest set of seeds that CCE and at least four others
    have, three seeds or more, or nothing. The interval of a rank holds 95 % of the ranks of means that the methods
    could have had instead, see `draw_means`."""
    sets = {frozenset(number.by_seed) for number in numbers.values()}
    for seeds in sorted(sets, key=lambda one: (-len(one), sorted(one))):
        known = {method: number for method, number in numbers.items() if seeds <= set(number.by_seed)}
        if BASELINE in known and len(known) >= FEWEST_TO_RANK:
            break
    else:
        return []
    known = dict(zip(known, restrict_to_shared_seeds(list(known.values()))[0], strict=True))
    if len(known[BASELINE].by_seed) < MIN_SEEDS:
        return []
    draws, _ = draw_means(list(known.values()), np.random.default_rng(derive_seed("rank", *known)))
    gains = {method: difference(number, known[BASELINE]) for method, number in known.items()}
    order = sorted(known, key=lambda method: -known[method].mean)
    others = [method for method in order if method != BASELINE]
    corrected = dict(zip(others, holm([p_value(gains[method]) for method in others]), strict=True))
    ranks = dict(zip(known, rank_intervals(draws), strict=True))
    unit = times.get(BASELINE, math.nan)
    return [
        Ranked(m, known[m].mean, ranks[m], gains[m], corrected.get(m, math.nan), times.get(m, math.nan) / unit)
        for m in order
    ]


def median_times(runs: pd.DataFrame, cell: Sequence[str]) -> dict[str, float]:
    """Return the processor time of a median epoch of each method, where times were kept."""
    here = runs[(runs[list(CELL[:3])] == list(cell)).all(axis=1)]
    if "processor_seconds" not in here:
        return {}
    return {str(method): float(time) for method, time in here.groupby("method")["processor_seconds"].median().items()}
