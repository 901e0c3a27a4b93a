"""Tests of two methods in one setting: over the seeds that both have, and over the test images that both classify."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from scipy import stats

from warlab.common.seeds import derive_seed
from warlab.reporting.read.predictions import Predictions, correct_answers
from warlab.reporting.stats import intervals
from warlab.reporting.stats.intervals import MIN_SEEDS, Number, on_shared_seeds, shared_seeds
from warlab.reporting.stats.over_settings import MIN_METHODS, Statistic, holm, signed_rank

REFERENCE = "cce"
DRAWS = 4000


def of_interest(methods: Sequence[str]) -> list[tuple[str, str]]:
    """Every method against CCE, or against the first one if there is no CCE, and the variants of WAR against AR."""
    reference = REFERENCE if REFERENCE in methods else methods[0]
    pairs = [(method, reference) for method in methods if method != reference]
    return pairs + [(method, "ar") for method in methods if method.startswith("war_") and "ar" in methods]


def over_seeds(numbers: Mapping[str, Number]) -> list[Statistic]:
    """Paired t and Wilcoxon tests of methods that share at least three seeds, each kind corrected by Holm."""
    t_tests, wilcoxon = [], []
    for one, two in of_interest(list(numbers)):
        seeds = shared_seeds(numbers[one], numbers[two])
        if len(seeds) >= MIN_SEEDS:
            gaps = np.array([numbers[one].by_seed[seed] - numbers[two].by_seed[seed] for seed in seeds])
            low, high = intervals.of_seeds(gaps.tolist()).interval()
            both = Statistic(subject=one, against=two, cells=len(seeds), value=float(gaps.mean()))
            t_tests.append(both._replace(test="paired_t", low=low, high=high, p_value=_t_test(gaps)))
            wilcoxon.append(both._replace(test="wilcoxon_seeds", p_value=signed_rank(gaps)))
    return _corrected(t_tests) + _corrected(wilcoxon)


def _t_test(gaps: np.ndarray) -> float:
    """The p-value of a t-test, which is not defined if all differences are equal: then 1 if they are 0, else 0."""
    if gaps.std() == 0:
        return 1.0 if gaps[0] == 0 else 0.0
    return float(stats.ttest_1samp(gaps, 0).pvalue)


def among_all(numbers: Mapping[str, Number]) -> Iterator[Statistic]:
    """Friedman's test of all methods of one setting over the seeds that all of them have."""
    if len(numbers) >= MIN_METHODS and len(seeds := shared_seeds(*numbers.values())) >= MIN_SEEDS:
        found = stats.friedmanchisquare(*([number.by_seed[seed] for seed in seeds] for number in numbers.values()))
        row = Statistic(test="friedman_seeds", cells=len(seeds))
        yield row._replace(value=float(found.statistic), p_value=float(found.pvalue))


def over_images(numbers: Mapping[str, Number]) -> list[Statistic]:
    """A paired bootstrap over the test images, of the means over epochs and shared seeds, corrected by Holm."""
    known = {method: number for method, number in numbers.items() if number.images}
    if len(known) < 2:
        return []
    pairs = of_interest(list(known))
    both = [[n.right for n in on_shared_seeds([known[one], known[two]])] for one, two in pairs]
    gaps = np.array([one - two for one, two in both if one is not None and two is not None])
    generator = np.random.default_rng(derive_seed("images", *known))
    draws = 100 * gaps.mean(1) + intervals.on_resampled_images(gaps, generator, DRAWS)
    draws = draws.round(9)  # a difference of 0 counts on both sides and must not become a rounding error
    tails = np.minimum((draws <= 0).sum(0), (draws >= 0).sum(0))
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    found = [
        Statistic(
            test="bootstrap_images",
            subject=one,
            against=two,
            cells=gaps.shape[1],
            value=100 * float(gaps[k].mean()),
            low=float(low[k]),
            high=float(high[k]),
            p_value=min(1.0, 2 * (int(tails[k]) + 1) / (DRAWS + 1)),
        )
        for k, (one, two) in enumerate(pairs)
    ]
    return _corrected(found)


def mcnemar(setting: pd.DataFrame, kept: Predictions) -> list[Statistic]:
    """The exact test on the last epoch of the first seed that both methods have, of the first network, corrected by
    Holm."""
    right: dict[str, dict[int, np.ndarray]] = {}
    for method, seed, run in setting[["method", "seed", "run"]].itertuples(index=False):
        if (answers := correct_answers(kept, run)) is not None:
            right.setdefault(str(method), {})[int(seed)] = answers[-1, 0]
    found = []
    for one, two in of_interest(list(right)) if right else []:
        if common := right[one].keys() & right[two].keys():
            found.append(_exact(right[one][min(common)], right[two][min(common)])._replace(subject=one, against=two))
    return _corrected(found)


def _exact(first: np.ndarray, second: np.ndarray) -> Statistic:
    """McNemar's exact test, by the images that only one of the two methods classifies correctly."""
    alone, other = int((first & ~second).sum()), int((second & ~first).sum())
    p_value = float(stats.binomtest(alone, alone + other).pvalue) if alone + other else 1.0
    value = 100 * (alone - other) / len(first)
    return Statistic(test="mcnemar", cells=len(first), value=value, p_value=p_value)


def across(numbers: Sequence[Mapping[str, Number]]) -> list[Statistic]:
    """The mean difference over two or more settings that have both methods, each resampled by itself."""
    methods = list(dict.fromkeys(method for setting in numbers for method in setting))
    found = []
    for one, two in of_interest(methods) if methods else []:
        both = [[setting[one], setting[two]] for setting in numbers if one in setting and two in setting]
        generator = np.random.default_rng(derive_seed("across", one, two))
        drawn = [intervals.resampled(pair, generator) for pair in both]
        if len(both) >= 2 and all(basis for _, basis in drawn):
            draws = np.mean([means[:, 0] - means[:, 1] for means, _ in drawn], axis=0)
            low, high = map(float, np.quantile(draws, [0.025, 0.975]))
            value = float(np.mean([pair[0].mean - pair[1].mean for pair in map(on_shared_seeds, both)]))
            row = Statistic(test="mean_over_settings", subject=one, against=two, cells=len(both))
            found.append(row._replace(value=value, low=low, high=high))
    return found


def _corrected(tests: Sequence[Statistic]) -> list[Statistic]:
    """Tests of one kind with p-values corrected by Holm."""
    p_values = holm([test.p_value for test in tests])
    return [test._replace(p_value=p_value) for test, p_value in zip(tests, p_values, strict=True)]
