"""Tests of two methods in one setting: over the seeds that both have, and over the test images that both classify."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from warlab.common.seeds import derive_seed
from warlab.reporting.read.predictions import Kept
from warlab.reporting.stats import intervals
from warlab.reporting.stats.intervals import MIN_SEEDS, Number
from warlab.reporting.stats.over_settings import LAST, MIN_METHODS, holm, signed_rank

REFERENCE = "cce"
DRAWS = 4000
EPOCHS = {"last10_mean": LAST, "last": 1}  # reading → how many epochs of predictions it goes over


class Test(NamedTuple):
    """One comparison: `cells` seeds or images, the difference in points with its 95 % interval, and p."""

    test: str
    subject: str
    against: str
    cells: int
    value: float
    low: float = math.nan
    high: float = math.nan
    p_value: float = math.nan


def of_interest(methods: Sequence[str]) -> list[tuple[str, str]]:
    """Every method against CCE, or else the first one, and the variants of WAR against AR."""
    reference = REFERENCE if REFERENCE in methods else methods[0]
    pairs = [(method, reference) for method in methods if method != reference]
    return pairs + [(method, "ar") for method in methods if method.startswith("war_") and "ar" in methods]


def numbers_of(setting: pd.DataFrame, reading: str, kept: Kept, tested_on: int = 0) -> dict[str, Number]:
    """The methods of one setting; `setting` has a row per run with `run`, the path of its folder."""
    found = {}
    for method, runs in setting[setting[reading].notna()].groupby("method", sort=False):
        by_seed = dict(zip(runs["seed"].astype(int), runs[reading].astype(float), strict=True))
        images = _images(runs, reading, kept)
        found[str(method)] = Number(float(runs[reading].mean()), by_seed=by_seed, images=images, tested_on=tested_on)
    return found


def _images(runs: pd.DataFrame, reading: str, kept: Kept) -> np.ndarray | None:
    shares = [kept.correct(run, EPOCHS[reading]) for run in runs["run"]] if reading in EPOCHS else []
    there = [share for share in shares if share is not None]
    return np.mean(there, axis=0) if there and len(there) == len(shares) else None


def over_seeds(numbers: Mapping[str, Number]) -> list[Test]:
    """Paired t and Wilcoxon tests where both methods have at least three seeds, each corrected by Holm."""
    found = []
    for one, two in of_interest(list(numbers)):
        seeds = sorted(numbers[one].by_seed.keys() & numbers[two].by_seed.keys())
        if len(seeds) >= MIN_SEEDS:
            gaps = np.array([numbers[one].by_seed[seed] - numbers[two].by_seed[seed] for seed in seeds])
            low, high = intervals.of_seeds(gaps.tolist()).interval()
            both = (one, two, len(seeds), float(gaps.mean()))
            found += [
                Test("paired_t", *both, low, high, _t_test(gaps)),
                Test("wilcoxon_seeds", *both, p_value=signed_rank(gaps)),
            ]
    return _corrected(found)


def _t_test(gaps: np.ndarray) -> float:
    """Of equal differences the test has no spread to compare with: they are certain, or there is none."""
    if gaps.std() == 0:
        return 1.0 if gaps[0] == 0 else 0.0
    return float(stats.ttest_1samp(gaps, 0).pvalue)


def among_all(numbers: Mapping[str, Number]) -> Iterator[Test]:
    """Friedman's test of all methods of one setting over the seeds that all of them have."""
    seeds = sorted(set.intersection(*(set(number.by_seed) for number in numbers.values()))) if numbers else []
    if len(numbers) >= MIN_METHODS and len(seeds) >= MIN_SEEDS:
        found = stats.friedmanchisquare(*([number.by_seed[seed] for seed in seeds] for number in numbers.values()))
        yield Test("friedman_seeds", "", "", len(seeds), float(found.statistic), p_value=float(found.pvalue))


def over_images(numbers: Mapping[str, Number]) -> list[Test]:
    """A paired bootstrap over the test images, of the means over epochs and seeds, corrected by Holm."""
    there = {method: number.images for method, number in numbers.items() if number.images is not None}
    if len(there) < 2:
        return []
    generator = np.random.default_rng(derive_seed("images", *there))
    moved = intervals.on_resampled_images(np.array(list(there.values())), generator, DRAWS)
    place = {method: number for number, method in enumerate(there)}
    found = []
    for one, two in of_interest(list(there)):
        gap = 100 * float(there[one].mean() - there[two].mean())
        draws = gap + moved[:, place[one]] - moved[:, place[two]]
        low, high = np.quantile(draws, [0.025, 0.975])
        tail = min((draws <= 0).sum(), (draws >= 0).sum())
        p_value = min(1.0, 2 * (int(tail) + 1) / (DRAWS + 1))
        found.append(Test("bootstrap_images", one, two, len(there[one]), gap, float(low), float(high), p_value))
    return _corrected(found)


def mcnemar(setting: pd.DataFrame, kept: Kept) -> list[Test]:
    """The exact test on the last epoch of the first seed that both methods have, corrected by Holm."""
    right: dict[tuple[str, int], np.ndarray] = {}
    for row in setting.to_dict("records"):
        if (answers := kept.at_the_end(row["run"])) is not None:
            right[str(row["method"]), int(row["seed"])] = answers
    seeds = {method: {seed for one, seed in right if one == method} for method, _ in right}
    found = []
    for one, two in of_interest(list(seeds)) if seeds else []:
        if common := seeds[one] & seeds[two]:
            first, second = right[one, min(common)], right[two, min(common)]
            found.append(Test("mcnemar", one, two, len(first), *_exact(first, second)))
    return _corrected(found)


def _exact(first: np.ndarray, second: np.ndarray) -> tuple[float, float, float, float]:
    """Points, no interval, p: among the images that one alone has right both methods are equally often that one."""
    alone, other = int((first & ~second).sum()), int((second & ~first).sum())
    p_value = float(stats.binomtest(alone, alone + other).pvalue) if alone + other else 1.0
    return 100 * (alone - other) / len(first), math.nan, math.nan, p_value


def across(numbers: Sequence[Mapping[str, Number]]) -> list[Test]:
    """The mean difference over the settings that have both methods, at least two, resampled in each by itself."""
    methods = list(dict.fromkeys(method for setting in numbers for method in setting))
    found = []
    for one, two in of_interest(methods) if methods else []:
        both = [[setting[one], setting[two]] for setting in numbers if one in setting and two in setting]
        generator = np.random.default_rng(derive_seed("across", one, two))
        drawn = [intervals.resampled(pair, generator) for pair in both]
        if len(both) >= 2 and all(basis for _, basis in drawn):
            draws = np.mean([means[:, 0] - means[:, 1] for means, _ in drawn], axis=0)
            low, high = np.quantile(draws, [0.025, 0.975])
            value = float(np.mean([pair[0].mean - pair[1].mean for pair in both]))
            found.append(Test("mean_over_settings", one, two, len(both), value, float(low), float(high)))
    return found


def _corrected(tests: Sequence[Test]) -> list[Test]:
    """Holm within each kind of test."""
    found: list[Test] = []
    for name in dict.fromkeys(test.test for test in tests):
        same = [test for test in tests if test.test == name]
        corrected = holm([test.p_value for test in same])
        found += [test._replace(p_value=p) for test, p in zip(same, corrected, strict=True)]
    return found


def rows(tests: Sequence[Test], **common: Any) -> Iterator[dict[str, Any]]:
    """As rows of statistics.csv."""
    for test in tests:
        yield {**common, **test._asdict()}
