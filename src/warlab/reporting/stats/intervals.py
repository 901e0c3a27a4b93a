"""Numbers of cells and their uncertainty: differences of two methods with standard errors, from seeds or test images.

Methods are compared on the seeds that all of them have. With three seeds or more, the interval is Student's t of the
differences seed by seed. With fewer, the error comes from the test set: paired over the same images if predictions are
kept, else binomial. Such an interval says how far other test images could change the difference; it does not include
the spread between trainings.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from scipy import stats

from warlab.ids import RunId
from warlab.reporting.read.predictions import Predictions, correct_answers
from warlab.reporting.read.results import ACCURACY, READINGS, SETTING, Scenario, kind_of_data

LEVEL = 0.95
MIN_SEEDS = 3
DRAWS = 2000
PRINTED = "as printed"  # the basis of a number that is taken as it is


@dataclass(frozen=True)
class Number:
    """The mean of a cell and what is known about its uncertainty.

    by_seed    the number of each run
    images     the share of right answers to each test image (N,) by seed, over epochs; empty if it is not known
    tested_on  the number of test images, if the mean is a share of them
    error      the standard error of a number that was measured otherwise, such as a time; `basis` says how
    printed    whether it is a number of the paper's tables, which is taken as exact
    """

    mean: float
    data: str = "real"
    source: str = ""  # run folders, or the table of the paper
    by_seed: Mapping[int, float] = field(default_factory=dict)
    images: Mapping[int, np.ndarray] = field(default_factory=dict)
    tested_on: int = 0
    error: float = math.nan
    basis: str = ""
    printed: bool = False

    def on(self, seeds: Collection[int]) -> "Number":
        """The same number over these seeds only."""
        if not seeds or set(seeds) == set(self.by_seed):
            return self
        values = {seed: self.by_seed[seed] for seed in sorted(seeds)}
        images = {seed: array for seed, array in self.images.items() if seed in seeds}
        return replace(self, mean=float(np.mean([*values.values()])), by_seed=values, images=images)

    @property
    def right(self) -> np.ndarray | None:
        """The share of right answers to each image, over the seeds."""
        return np.mean([*self.images.values()], axis=0) if self.images else None


def shared_seeds(*numbers: Number) -> list[int]:
    """The seeds that all of them have."""
    return sorted(set.intersection(*(set(number.by_seed) for number in numbers)))


def on_shared_seeds(numbers: Sequence[Number]) -> list[Number]:
    """Each number over the seeds that all of them have; unchanged if they share no seed."""
    shared = shared_seeds(*numbers)
    return [number.on(shared) for number in numbers]


def numbers_of(
    runs: pd.DataFrame, column: str, kept: Predictions, last: Callable[[Scenario], int], tested_on: Mapping[str, int]
) -> dict[Scenario, dict[str, Number]]:
    """The number of every cell and metric, by setting and method.

    runs       a row per run, with the columns CELL, metric, seed, data and `run`, its id
    column     where the value of a run is; a run without a value makes the mean of its cell empty
    kept       the predictions of the runs
    last       over how many of the last epochs the value is a mean, if it can be computed from predictions; else 0
    tested_on  the number of test images of a dataset
    """
    numbers: dict[Scenario, dict[str, Number]] = {}
    for (*key, method), cell in runs.groupby([*SETTING, "metric", "method"], sort=False):
        setting, done = Scenario(*map(str, key)), cell[cell[column].notna()]
        numbers.setdefault(setting, {})[str(method)] = Number(
            mean=float(cell[column].mean(skipna=False)),
            data=kind_of_data(done["data"]),
            source=_folders([RunId.parse(run) for run in done["run"]]),
            by_seed=dict(zip(done["seed"].astype(int), done[column].astype(float), strict=True)),
            images=_images(cell, kept, last(setting)),
            tested_on=tested_on.get(setting.dataset, 0) if setting.metric in (ACCURACY, *READINGS) else 0,
        )
    return numbers


def _folders(runs: Sequence[RunId]) -> str:
    """The folders of one cell: …/seed0…2"""
    if not runs:
        return ""
    seeds = sorted(run.seed for run in runs)
    successive = seeds == list(range(seeds[0], seeds[-1] + 1)) and len(seeds) > 1
    return f"{'/'.join(runs[0].cell)}/seed" + (f"{seeds[0]}…{seeds[-1]}" if successive else ",".join(map(str, seeds)))


def _images(runs: pd.DataFrame, kept: Predictions, last: int) -> dict[int, np.ndarray]:
    """The share of right answers to each image, by seed; empty if one of the runs has no predictions."""
    shares = {
        int(seed): right[-last:].mean((0, 1))  # over the epochs and the networks
        for seed, run in zip(runs["seed"], runs["run"], strict=True)
        if last and (right := correct_answers(kept, run)) is not None
    }
    return shares if len(shares) == len(runs) else {}


@dataclass(frozen=True)
class Estimate:
    """A value with its standard error (0: exact, nan: unknown) and where that comes from; `draws` of a resampling."""

    value: float
    error: float = math.nan
    freedom: float = math.inf
    basis: str = ""
    draws: np.ndarray | None = None

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """The ends of the interval; infinite if the error is unknown."""
        if self.draws is not None:
            low, high = np.quantile(self.draws, [(1 - level) / 2, (1 + level) / 2])
            return float(low), float(high)
        if math.isnan(self.error):
            return -math.inf, math.inf
        reach = self.error * float(stats.t.ppf((1 + level) / 2, self.freedom)) if self.error else 0.0
        return self.value - reach, self.value + reach


def difference(one: Number, two: Number) -> Estimate:
    """one minus two, on the seeds that both have"""
    one, two = on_shared_seeds([one, two])
    by_seed = [one.by_seed[seed] - two.by_seed[seed] for seed in shared_seeds(one, two)]
    right, other = one.right, two.right
    paired = right - other if right is not None and other is not None and len(right) == len(other) else None
    return _estimate(one.mean - two.mean, [one, two], by_seed, paired)


def single(one: Number) -> Estimate:
    """The number itself."""
    found = _estimate(one.mean, [one], list(one.by_seed.values()), one.right)
    return found if found.basis else Estimate(one.mean, one.error, basis=one.basis)


def _estimate(value: float, numbers: Sequence[Number], by_seed: Sequence[float], right: np.ndarray | None) -> Estimate:
    """An estimate of one number, or of the difference of two, from the first that is known: seeds, images, or their
    count."""
    if all(number.printed for number in numbers):
        return Estimate(value, 0.0, basis=PRINTED)
    if len(by_seed) >= MIN_SEEDS:
        return of_seeds(by_seed)
    if right is not None:
        error = 100 * float(right.std(ddof=1)) / math.sqrt(len(right))
        return Estimate(value, error, basis=f"{len(right)} {'paired ' if len(numbers) > 1 else ''}test images")
    if all(number.tested_on for number in numbers):
        error = math.hypot(*(_binomial(number.mean, number.tested_on) for number in numbers))
        return Estimate(value, error, basis=f"{min(number.tested_on for number in numbers)} test images, binomial")
    return Estimate(value)


def ratio(one: Number, two: Number) -> Estimate:
    """one / two; its error follows from that of its logarithm."""
    value = one.mean / two.mean
    if one.printed and two.printed:
        return Estimate(value, 0.0, basis=PRINTED)
    seeds = shared_seeds(one, two)
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


def resampled(numbers: Sequence[Number], generator: np.random.Generator) -> tuple[np.ndarray, str]:
    """The means (DRAWS, methods) of the methods in one setting on resampled seeds, or else on resampled test images,
    the same for all methods, and what was resampled: an empty text if the means are unchanged for lack of both."""
    numbers = on_shared_seeds(numbers)
    means = np.array([number.mean for number in numbers])
    if all(number.printed for number in numbers):
        return np.tile(means, (DRAWS, 1)), PRINTED
    seeds = shared_seeds(*numbers)
    if len(seeds) >= MIN_SEEDS:
        values = np.array([[number.by_seed[seed] for seed in seeds] for number in numbers])
        chosen = generator.integers(len(seeds), size=(DRAWS, len(seeds)))
        return values[:, chosen].mean(2).T, f"{len(seeds)} seeds, bootstrap"
    images = [right for number in numbers if (right := number.right) is not None]
    if len(images) == len(numbers) and len({len(one) for one in images}) == 1:
        moved = on_resampled_images(np.array(images), generator, DRAWS)
        return means + moved, f"{len(images[0])} test images, bootstrap"
    if all(number.tested_on for number in numbers):
        errors = [_binomial(number.mean, number.tested_on) for number in numbers]
        return generator.normal(means, errors, (DRAWS, len(means))), f"{numbers[0].tested_on} test images, binomial"
    return np.tile(means, (DRAWS, 1)), ""


def on_resampled_images(images: np.ndarray, generator: np.random.Generator, draws: int) -> np.ndarray:
    """How far, in points, the means of the rows (rows, N) move on resampled images, the same for all rows."""
    centred, count = 100 * (images - images.mean(1, keepdims=True)), images.shape[1]
    moved = np.empty((draws, len(images)))
    for draw in range(draws):
        times = np.bincount(generator.integers(count, size=count), minlength=count)
        moved[draw] = centred @ times / count
    return moved


def _binomial(percent: float, count: int) -> float:
    share = min(max(percent / 100, 0.0), 1.0)
    return 100 * math.sqrt(share * (1 - share) / count)
