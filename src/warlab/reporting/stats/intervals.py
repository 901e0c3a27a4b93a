"""How sure a number is: differences of two methods with their standard errors, from seeds or from the test set.

At least three seeds give Student's t of the differences seed by seed. With fewer, the test set gives the error: paired
over the same images where predictions are kept, else binomial. Such an interval says how far other test images could
change the difference; it does not contain the spread between trainings.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import stats

LEVEL = 0.95
MIN_SEEDS = 3
DRAWS = 2000
PRINTED = "as printed"  # the basis of a number that is taken as it is


@dataclass(frozen=True)
class Number:
    """A cell's mean and what is known about how sure it is.

    by_seed    the number of each run; images: the share of right answers to each test image (N,), over runs and epochs
    tested_on  how many test images there are, where the number is a share of them
    error      standard error of a number that was measured otherwise, such as a time; `basis` says how
    printed    a number of the paper's tables, which is taken as it is
    """

    mean: float
    data: str = "real"
    source: str = ""  # run folders, or the table of the paper
    by_seed: Mapping[int, float] = field(default_factory=dict)
    images: np.ndarray | None = None
    tested_on: int = 0
    error: float = math.nan
    basis: str = ""
    printed: bool = False


@dataclass(frozen=True)
class Estimate:
    """A value with its standard error (0: exact, nan: unknown) and where that comes from; `draws` of a resampling."""

    value: float
    error: float = math.nan
    freedom: float = math.inf
    basis: str = ""
    draws: np.ndarray | None = None

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Without an error nothing is excluded."""
        if self.draws is not None:
            low, high = np.quantile(self.draws, [(1 - level) / 2, (1 + level) / 2])
            return float(low), float(high)
        if math.isnan(self.error):
            return -math.inf, math.inf
        reach = self.error * float(stats.t.ppf((1 + level) / 2, self.freedom)) if self.error else 0.0
        return self.value - reach, self.value + reach


def difference(one: Number, two: Number) -> Estimate:
    """one minus two"""
    value = one.mean - two.mean
    if one.printed and two.printed:
        return _printed(value)
    seeds = sorted(one.by_seed.keys() & two.by_seed.keys())
    if len(seeds) >= MIN_SEEDS:
        return of_seeds([one.by_seed[seed] - two.by_seed[seed] for seed in seeds])
    if one.images is not None and two.images is not None and len(one.images) == len(two.images):
        return _of_images(value, one.images - two.images, "paired")
    if one.tested_on and two.tested_on:
        error = math.hypot(_binomial(one.mean, one.tested_on), _binomial(two.mean, two.tested_on))
        return Estimate(value, error, basis=f"{min(one.tested_on, two.tested_on)} test images, binomial")
    return Estimate(value)


def single(one: Number) -> Estimate:
    """The number itself."""
    if one.printed:
        return _printed(one.mean)
    if len(one.by_seed) >= MIN_SEEDS:
        return of_seeds(list(one.by_seed.values()))
    if one.images is not None:
        return _of_images(one.mean, one.images, "")
    if one.tested_on:
        error = _binomial(one.mean, one.tested_on)
        return Estimate(one.mean, error, basis=f"{one.tested_on} test images, binomial")
    return Estimate(one.mean, one.error, basis=one.basis)


def ratio(one: Number, two: Number) -> Estimate:
    """one / two; its error follows from that of its logarithm."""
    value = one.mean / two.mean
    if one.printed and two.printed:
        return _printed(value)
    seeds = sorted(one.by_seed.keys() & two.by_seed.keys())
    if len(seeds) >= MIN_SEEDS:
        logarithm = of_seeds([math.log(one.by_seed[seed] / two.by_seed[seed]) for seed in seeds])
        return Estimate(value, value * logarithm.error, logarithm.freedom, logarithm.basis)
    error = value * math.hypot(one.error / one.mean, two.error / two.mean)
    return Estimate(value, error, basis=one.basis)


def of_seeds(values: Sequence[float]) -> Estimate:
    """The mean with Student's t."""
    numbers = np.asarray(values, float)
    error = float(numbers.std(ddof=1)) / math.sqrt(len(numbers))
    return Estimate(float(numbers.mean()), error, len(numbers) - 1, f"{len(numbers)} seeds, Student's t")


def resampled(numbers: Sequence[Number], generator: np.random.Generator, draws: int = DRAWS) -> tuple[np.ndarray, str]:
    """The means (draws, methods) of one cell's methods on resampled seeds, the same for all of them, or else test
    images, and what was resampled; without either, the means as they are and no words."""
    means = np.array([number.mean for number in numbers])
    if all(number.printed for number in numbers):
        return np.tile(means, (draws, 1)), PRINTED
    seeds = sorted(set.intersection(*(set(number.by_seed) for number in numbers)))
    if len(seeds) >= MIN_SEEDS:
        values = np.array([[number.by_seed[seed] for seed in seeds] for number in numbers])
        chosen = generator.integers(len(seeds), size=(draws, len(seeds)))
        return values[:, chosen].mean(2).T, f"{len(seeds)} seeds, bootstrap"
    images = [number.images for number in numbers if number.images is not None]
    if len(images) == len(numbers) and len({len(one) for one in images}) == 1:
        moved = on_resampled_images(np.array(images), generator, draws)
        return means + moved, f"{len(images[0])} test images, bootstrap"
    if all(number.tested_on for number in numbers):
        errors = [_binomial(number.mean, number.tested_on) for number in numbers]
        return generator.normal(means, errors, (draws, len(means))), f"{numbers[0].tested_on} test images, binomial"
    return np.tile(means, (draws, 1)), ""


def on_resampled_images(images: np.ndarray, generator: np.random.Generator, draws: int) -> np.ndarray:
    """By how many points the means of the methods (methods, N) move; the same images for all of them."""
    centred, count = 100 * (images - images.mean(1, keepdims=True)), images.shape[1]
    moved = np.empty((draws, len(images)))
    for draw in range(draws):
        times = np.bincount(generator.integers(count, size=count), minlength=count)
        moved[draw] = centred @ times / count
    return moved


def _of_images(value: float, shares: np.ndarray, how: str) -> Estimate:
    error = 100 * float(shares.std(ddof=1)) / math.sqrt(len(shares))
    return Estimate(value, error, basis=" ".join(word for word in (str(len(shares)), how, "test images") if word))


def _binomial(percent: float, count: int) -> float:
    share = min(max(percent / 100, 0.0), 1.0)
    return 100 * math.sqrt(share * (1 - share) / count)


def _printed(value: float) -> Estimate:
    return Estimate(value, 0.0, basis=PRINTED)
