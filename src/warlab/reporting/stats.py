"""How sure the numbers of a study are: intervals, tests, ranks, and the agreement with the paper's order.

Methods are compared on the seeds that all of them have. From three seeds on, an interval is Student's t over the seeds.
With fewer it comes from the test set: paired over the same images if predictions are kept, else binomial. Such an
interval says how far other test samples could change a number; it does not include the spread between trainings.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from warlab.common.seeds import derive_seed
from warlab.common.wording import several
from warlab.reporting.names import BASELINE
from warlab.reporting.read.numbers import Number, restrict_to_shared_seeds

LEVEL = 0.95
MIN_SEEDS = 3
MIN_METHODS = 3
DRAWS, IMAGE_DRAWS = 2000, 4000
PRINTED = "as printed"  # the basis of a number of the paper's tables, which is taken as exact


# ---- intervals


@dataclass(frozen=True)
class Estimate:
    """A value with its standard error (0: exact, nan: unknown) and where that comes from; `draws` of a resampling."""

    value: float
    error: float = math.nan
    freedom: float = math.inf
    basis: str = ""
    draws: np.ndarray | None = None

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Return the ends of the interval; infinite if the error is unknown."""
        if self.draws is not None:
            return quantiles(self.draws, level)
        if math.isnan(self.error):
            return -math.inf, math.inf
        reach = self.error * float(stats.t.ppf((1 + level) / 2, self.freedom)) if self.error else 0.0
        return self.value - reach, self.value + reach


def quantiles(draws: np.ndarray, level: float = LEVEL) -> tuple[float, float]:
    """Return the ends of the interval that holds this share of the draws."""
    tail = round((1 - level) / 2, 12)  # 0.025, not 0.025000000000000022
    low, high = np.nanquantile(draws, [tail, 1 - tail])
    return float(low), float(high)


def mean_over_seeds(values: Sequence[float]) -> Estimate:
    """Return the mean with Student's t."""
    numbers = np.asarray(values, float)
    error = float(numbers.std(ddof=1)) / math.sqrt(len(numbers))
    return Estimate(float(numbers.mean()), error, len(numbers) - 1, f"{len(numbers)} seeds, Student's t")


def interval_over_seeds(values: Sequence[float]) -> tuple[float, float]:
    """Return the interval of a mean over seeds; NaN for fewer than three."""
    return mean_over_seeds(values).interval() if len(values) >= MIN_SEEDS else (math.nan, math.nan)


def difference(one: Number, two: Number | None = None) -> Estimate:
    """Return one minus two on the seeds that both have, or `one` itself: from the first basis that there is, which is
    seeds, the same test samples, or their count."""
    numbers, seeds = restrict_to_shared_seeds([one, two] if two else [one])

    def subtract(values: Sequence[Any]) -> Any:
        return values[0] - values[1] if two else values[0]

    value = subtract([number.mean for number in numbers])
    if all(number.printed for number in numbers):
        return Estimate(value, 0.0, basis=PRINTED)
    if len(seeds) >= MIN_SEEDS:
        return mean_over_seeds([subtract([number.by_seed[seed] for number in numbers]) for seed in seeds])
    images, paired = [number.correct for number in numbers], "paired " * (two is not None)
    if (count := len(images[0])) and len({len(correct) for correct in images}) == 1:
        error = 100 * float(subtract(images).std(ddof=1)) / math.sqrt(count)
        return Estimate(value, error, basis=f"{count} {paired}test samples")
    if all(number.tested_on for number in numbers):
        error = math.hypot(*(number.binomial_error for number in numbers))
        return Estimate(value, error, basis=f"{min(number.tested_on for number in numbers)} test samples, binomial")
    return Estimate(value)


def ratio(one: Number, two: Number) -> Estimate:
    """Return one / two; the relative errors of measured numbers, such as times, add up."""
    value, printed = one.mean / two.mean, one.printed and two.printed
    error = 0.0 if printed else value * math.hypot(one.error / one.mean, two.error / two.mean)
    return Estimate(value, error, basis=PRINTED if printed else one.basis)


def draw_means(numbers: Sequence[Number], generator: np.random.Generator) -> tuple[np.ndarray, str]:
    """Draw means (DRAWS, methods) that the methods of one setting could have had instead, and say what varies: the
    seeds, or else the test samples, in both cases the same ones for all methods; an empty text for lack of both.

    Over seeds the draws have the multivariate t distribution of the means: the quantiles of the difference of two
    methods are the interval that `difference` returns. Three seeds are too few for a bootstrap.
    """
    numbers, seeds = restrict_to_shared_seeds(numbers)
    means = np.array([number.mean for number in numbers])
    if all(number.printed for number in numbers):
        return np.tile(means, (DRAWS, 1)), PRINTED
    if (count := len(seeds)) >= MIN_SEEDS:
        values = np.array([[number.by_seed[seed] for seed in seeds] for number in numbers])
        normal = generator.normal(size=(DRAWS, count)) @ (values - values.mean(1, keepdims=True)).T
        chi_squared = generator.chisquare(count - 1, size=(DRAWS, 1))
        return means + normal / np.sqrt(count * chi_squared), f"{count} seeds, Student's t"
    images = [number.correct for number in numbers]
    if (count := len(images[0])) and len({len(correct) for correct in images}) == 1:
        return means + resample_images(np.array(images), generator, DRAWS), f"{count} test samples, bootstrap"
    if all(number.tested_on for number in numbers):
        draws = generator.normal(means, [number.binomial_error for number in numbers], (DRAWS, len(means)))
        return draws, f"{numbers[0].tested_on} test samples, binomial"
    return np.tile(means, (DRAWS, 1)), ""


def resample_images(images: np.ndarray, generator: np.random.Generator, draws: int) -> np.ndarray:
    """Return by how many points the means of the rows (rows, N) move on resampled images, the same for all rows."""
    centred, count = 100 * (images - images.mean(1, keepdims=True)), images.shape[1]
    moved = np.empty((draws, len(images)))
    for draw in range(draws):
        times = np.bincount(generator.integers(count, size=count), minlength=count)
        moved[draw] = centred @ times / count
    return moved


# ---- tests


class Statistic(NamedTuple):
    """A row of statistics.csv: the result of a test, or in `note` why there is none.

    setting  dataset, noise and network, if the test is about one setting
    cells    the number of settings, seeds, images or methods that the test counts
    """

    experiment: str = ""
    reading: str = ""
    test: str = ""
    setting: str = ""
    subject: str = ""
    against: str = ""
    cells: float = math.nan
    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p_value: float = math.nan
    data: str = ""
    note: str = ""


def pairs_to_test(methods: Sequence[str]) -> list[tuple[str, str]]:
    """Pair every method with CCE, or with the first one if there is no CCE, and the variants of WAR with AR."""
    reference = BASELINE if BASELINE in methods else next(iter(methods), "")
    pairs = [(method, reference) for method in methods if method != reference]
    return pairs + [(method, "ar") for method in methods if method.startswith("war_") and "ar" in methods]


def p_value(difference: Estimate) -> float:
    """Return p of Student's t. Without spread t is not defined: p is 1 if all are 0, and 0 if they are equal."""
    if not difference.error:
        return float(difference.value == 0)
    return 2 * float(stats.t.sf(abs(difference.value) / difference.error, difference.freedom))


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values by Holm 1979: the k-th smallest of n times n - k + 1, in the same order and at most 1."""
    values = np.asarray(p_values, float)
    order = np.argsort(values, kind="stable")
    steps = np.minimum(1, np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1)))
    return [float(step) for step in steps[np.argsort(order)]]


def _correct_p_values(tests: Sequence[Statistic]) -> list[Statistic]:
    p_values = holm([test.p_value for test in tests])
    return [test._replace(p_value=p_value) for test, p_value in zip(tests, p_values, strict=True)]


def compare_over_seeds(numbers: Mapping[str, Number]) -> list[Statistic]:
    """Return paired t tests of the methods of one setting that share at least three seeds, corrected by Holm."""
    tests = []
    for one, two in pairs_to_test(list(numbers)):
        (first, second), seeds = restrict_to_shared_seeds([numbers[one], numbers[two]])
        if len(seeds) >= MIN_SEEDS:
            gaps = np.array([first.by_seed[seed] - second.by_seed[seed] for seed in seeds])
            estimate = mean_over_seeds(gaps.tolist())
            rest = (len(seeds), estimate.value, *estimate.interval(), p_value(estimate))
            tests.append(Statistic("", "", "paired_t", "", one, two, *rest))
    return _correct_p_values(tests)


def compare_over_images(numbers: Mapping[str, Number]) -> list[Statistic]:
    """Return paired bootstraps over the test samples, of means over epochs and shared seeds, corrected by Holm."""
    known = {method: number for method, number in numbers.items() if number.images}
    if len(known) < 2:
        return []
    pairs = pairs_to_test(list(known))
    both = [restrict_to_shared_seeds([known[one], known[two]])[0] for one, two in pairs]
    gaps = np.array([one.correct - two.correct for one, two in both])
    generator = np.random.default_rng(derive_seed("images", *known))
    draws = 100 * gaps.mean(1) + resample_images(gaps, generator, IMAGE_DRAWS)
    draws = draws.round(9)  # a difference of 0 counts on both sides and must not become a rounding error
    tests = []
    for (one, two), gap, drawn in zip(pairs, gaps, draws.T, strict=True):
        tail = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
        p_value = min(1.0, 2 * (tail + 1) / (IMAGE_DRAWS + 1))
        rest = (len(gap), 100 * float(gap.mean()), *quantiles(drawn), p_value)
        tests.append(Statistic("", "", "bootstrap_images", "", one, two, *rest))
    return _correct_p_values(tests)


# ---- ranks and orders


def average_ranks(means: np.ndarray) -> np.ndarray:
    """Return the average ranks (…, methods) over the settings of means (settings, …, methods); 1 is the highest."""
    return np.asarray(stats.rankdata(-means, axis=-1).mean(0))


def rank_intervals(draws: np.ndarray, level: float = LEVEL) -> list[tuple[int, int]]:
    """Return the interval of each method's rank in draws of means (DRAWS, methods); 1 is the highest."""
    tail = (1 - level) / 2
    ranks = np.quantile(stats.rankdata(-draws, axis=1), [tail, 1 - tail], axis=0, method="nearest")
    return [(round(low), round(high)) for low, high in ranks.T.tolist()]


def kendall(numbers: Mapping[str, Number], paper: Mapping[str, float]) -> Statistic:
    """Return Kendall's tau-b between the paper's order and ours, of the methods that both have a number for: 1 is the
    same order, -1 the reverse; p by scipy: exact without ties, asymptotic with them."""
    common = [m for m in numbers if not math.isnan(numbers[m].mean) and not math.isnan(paper.get(m, math.nan))]
    row = Statistic(test="kendall", against="paper", cells=len(common))
    if len(common) < MIN_METHODS:
        return row._replace(
            note=f"only {several(len(common), 'method')} with both numbers; an order needs {MIN_METHODS}"
        )
    ours, theirs = [numbers[method] for method in common], [paper[method] for method in common]
    tau = stats.kendalltau([number.mean for number in ours], theirs)
    if math.isnan(tau.statistic):
        return row._replace(note="all numbers of one side are equal: there is no order")
    draws, basis = draw_means(ours, np.random.default_rng(derive_seed("kendall", *common)))
    low, high = quantiles(taus(draws, theirs)) if basis else (math.nan, math.nan)
    return row._replace(value=float(tau.statistic), p_value=float(tau.pvalue), low=low, high=high)


def taus(ours: np.ndarray, published: Sequence[float]) -> np.ndarray:
    """Return Kendall's tau-b of each row (draws, methods) with one order (methods,)."""
    first, second = np.triu_indices(ours.shape[1], 1)
    signs, printed = np.sign(ours[:, first] - ours[:, second]), np.asarray(published, float)
    theirs = np.sign(printed[first] - printed[second])
    return (signs @ theirs) / np.sqrt((signs**2).sum(1) * (theirs**2).sum())
