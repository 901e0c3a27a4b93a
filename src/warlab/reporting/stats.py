"""How sure the numbers of a study are: intervals, tests, ranks, and the agreement with the paper's order.

Methods are compared on the seeds that all of them have. From three seeds on, an interval is Student's t over the seeds.
With fewer it comes from the test set: paired over the same images if predictions are kept, else binomial. Such an
interval says how far other test images could change a number; it does not include the spread between trainings.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from warlab.common.readings import LAST
from warlab.common.seeds import derive_seed
from warlab.common.wording import several
from warlab.ids import RunId
from warlab.reporting.names import BASELINE
from warlab.reporting.read import results
from warlab.reporting.read.csv_rows import table_of
from warlab.reporting.read.predictions import Predictions, correct_answers
from warlab.reporting.read.results import ACCURACY, CELL, READINGS, SETTING, Scenario, kind_of_data

LEVEL = 0.95
MIN_SEEDS = 3
MIN_METHODS = 3
DRAWS, IMAGE_DRAWS = 2000, 4000
PRINTED = "as printed"  # the basis of a number of the paper's tables, which is taken as exact
TESTED = READINGS[:-1]  # the last reading chooses by the test labels: a diagnostic, tested nowhere
EPOCHS = {"last10_mean": LAST, "last": 1}  # reading → over how many epochs it is a mean


# ---- numbers of cells


@dataclass(frozen=True)
class Number:
    """The mean of a cell and what is known about its uncertainty.

    by_seed    the number of each run
    images     the share of correct answers to each test image (N,) by seed, over epochs; empty if it is not known
    tested_on  the number of test images, if the mean is a share of them
    error      the standard error of a number that was measured otherwise, such as a time; `basis` says how
    printed    whether it is a number of the paper's tables
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

    def restrict(self, seeds: Collection[int]) -> "Number":
        """Return the same number over these seeds only."""
        if not seeds or set(seeds) == set(self.by_seed):
            return self
        values = {seed: self.by_seed[seed] for seed in sorted(seeds)}
        images = {seed: array for seed, array in self.images.items() if seed in seeds}
        return replace(self, mean=float(np.mean([*values.values()])), by_seed=values, images=images)

    @property
    def correct(self) -> np.ndarray | None:
        """The share of correct answers to each image, over the seeds."""
        return np.mean([*self.images.values()], axis=0) if self.images else None


def shared_seeds(*numbers: Number) -> list[int]:
    return sorted(set.intersection(*(set(number.by_seed) for number in numbers)))


def restrict_to_shared_seeds(numbers: Sequence[Number]) -> list[Number]:
    """Return each number over the seeds that all of them have; unchanged if they share no seed."""
    shared = shared_seeds(*numbers)
    return [number.restrict(shared) for number in numbers]


def collect_numbers(
    runs: pd.DataFrame, column: str, predictions: Predictions, tested_on: Mapping[str, int]
) -> dict[Scenario, dict[str, Number]]:
    """Return the number of every cell and metric, by setting and method.

    runs       a row per run, with the columns CELL, metric, seed, data, `run`, its id, and `epochs`: over how many of
               the last epochs the value is a mean, if it can be computed from predictions, else 0
    column     where the value of a run is; a run without a value makes the mean of its cell empty
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
            images=_images(cell, predictions),
            tested_on=tested_on.get(setting.dataset, 0) if setting.metric in (ACCURACY, *READINGS) else 0,
        )
    return numbers


def _folders(runs: Sequence[RunId]) -> str:
    """Return the folders of one cell: …/seed0…2"""
    if not runs:
        return ""
    seeds = sorted(run.seed for run in runs)
    successive = seeds == list(range(seeds[0], seeds[-1] + 1)) and len(seeds) > 1
    return f"{'/'.join(runs[0].cell)}/seed" + (f"{seeds[0]}…{seeds[-1]}" if successive else ",".join(map(str, seeds)))


def _images(runs: pd.DataFrame, predictions: Predictions) -> dict[int, np.ndarray]:
    """Return the share of correct answers to each image, by seed; empty if one of the runs has no predictions."""
    shares = {
        int(seed): correct[-epochs:].mean((0, 1))  # over the epochs and the networks
        for seed, run, epochs in runs[["seed", "run", "epochs"]].itertuples(index=False)
        if epochs and (correct := correct_answers(predictions, run)) is not None
    }
    return shares if len(shares) == len(runs) else {}


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


def half_interval(values: Iterable[float]) -> float:
    """Return half the width of the interval of a mean over seeds; NaN for fewer than three."""
    numbers = list(values)
    estimate = mean_over_seeds(numbers) if len(numbers) >= MIN_SEEDS else Estimate(math.nan)
    return estimate.interval()[1] - estimate.value


def difference(one: Number, two: Number) -> Estimate:
    """Return one minus two, on the seeds that both have."""
    one, two = restrict_to_shared_seeds([one, two])
    by_seed = [one.by_seed[seed] - two.by_seed[seed] for seed in shared_seeds(one, two)]
    correct, other = one.correct, two.correct
    paired = correct - other if correct is not None and other is not None and len(correct) == len(other) else None
    return _estimate(one.mean - two.mean, [one, two], by_seed, paired)


def single(one: Number) -> Estimate:
    """Return the number itself."""
    return _estimate(one.mean, [one], list(one.by_seed.values()), one.correct)


def _estimate(
    value: float, numbers: Sequence[Number], by_seed: Sequence[float], correct: np.ndarray | None
) -> Estimate:
    """Estimate one number, or the difference of two, from the first that is known: seeds, images, or their count."""
    if all(number.printed for number in numbers):
        return Estimate(value, 0.0, basis=PRINTED)
    if len(by_seed) >= MIN_SEEDS:
        return mean_over_seeds(by_seed)
    if correct is not None:
        error = 100 * float(correct.std(ddof=1)) / math.sqrt(len(correct))
        return Estimate(value, error, basis=f"{len(correct)} {'paired ' if len(numbers) > 1 else ''}test images")
    if all(number.tested_on for number in numbers):
        error = math.hypot(*(_binomial(number) for number in numbers))
        return Estimate(value, error, basis=f"{min(number.tested_on for number in numbers)} test images, binomial")
    return Estimate(value)


def _binomial(number: Number) -> float:
    share = min(max(number.mean / 100, 0.0), 1.0)
    return 100 * math.sqrt(share * (1 - share) / number.tested_on)


def ratio(one: Number, two: Number) -> Estimate:
    """Return one / two; the relative errors of measured numbers, such as times, add up."""
    value = one.mean / two.mean
    if one.printed and two.printed:
        return Estimate(value, 0.0, basis=PRINTED)
    return Estimate(value, value * math.hypot(one.error / one.mean, two.error / two.mean), basis=one.basis)


def draw_means(numbers: Sequence[Number], generator: np.random.Generator) -> tuple[np.ndarray, str]:
    """Draw means (DRAWS, methods) that the methods of one setting could have had instead, and say what varies: the
    seeds, or else the test images, in both cases the same ones for all methods; an empty text for lack of both.

    Over seeds the draws have the multivariate t distribution of the means: the quantiles of the difference of two
    methods are the interval that `difference` returns. Three seeds are too few for a bootstrap.
    """
    numbers = restrict_to_shared_seeds(numbers)
    means = np.array([number.mean for number in numbers])
    if all(number.printed for number in numbers):
        return np.tile(means, (DRAWS, 1)), PRINTED
    seeds = shared_seeds(*numbers)
    if (count := len(seeds)) >= MIN_SEEDS:
        values = np.array([[number.by_seed[seed] for seed in seeds] for number in numbers])
        normal = generator.normal(size=(DRAWS, count)) @ (values - values.mean(1, keepdims=True)).T
        chi_squared = generator.chisquare(count - 1, size=(DRAWS, 1))
        return means + normal / np.sqrt(count * chi_squared), f"{count} seeds, Student's t"
    images = [correct for number in numbers if (correct := number.correct) is not None]
    if len(images) == len(numbers) and len({len(one) for one in images}) == 1:
        return means + resample_images(np.array(images), generator, DRAWS), f"{len(images[0])} test images, bootstrap"
    if all(number.tested_on for number in numbers):
        draws = generator.normal(means, [_binomial(number) for number in numbers], (DRAWS, len(means)))
        return draws, f"{numbers[0].tested_on} test images, binomial"
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


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm 1979: the k-th smallest of n times n - k + 1, in the same order and at most 1."""
    values = np.asarray(p_values, float)
    order = np.argsort(values, kind="stable")
    steps = np.minimum(1, np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1)))
    corrected = np.empty_like(values)
    corrected[order] = steps
    return corrected.tolist()


def _correct_p_values(tests: Sequence[Statistic]) -> list[Statistic]:
    p_values = holm([test.p_value for test in tests])
    return [test._replace(p_value=p_value) for test, p_value in zip(tests, p_values, strict=True)]


def compare_over_seeds(numbers: Mapping[str, Number]) -> list[Statistic]:
    """Paired t tests of the methods of one setting that share at least three seeds, corrected by Holm."""
    tests = []
    for one, two in pairs_to_test(list(numbers)):
        seeds = shared_seeds(numbers[one], numbers[two])
        if len(seeds) >= MIN_SEEDS:
            gaps = np.array([numbers[one].by_seed[seed] - numbers[two].by_seed[seed] for seed in seeds])
            # Without spread t is not defined: p is 1 if all differences are 0, and 0 if they are equal.
            p_value = float(stats.ttest_1samp(gaps, 0).pvalue) if gaps.std() else float(gaps[0] == 0)
            low, high = mean_over_seeds(gaps.tolist()).interval()
            row = Statistic(test="paired_t", subject=one, against=two, cells=len(seeds), value=float(gaps.mean()))
            tests.append(row._replace(low=low, high=high, p_value=p_value))
    return _correct_p_values(tests)


def compare_over_images(numbers: Mapping[str, Number]) -> list[Statistic]:
    """A paired bootstrap over the test images, of the means over epochs and shared seeds, corrected by Holm."""
    known = {method: number for method, number in numbers.items() if number.images}
    if len(known) < 2:
        return []
    pairs = pairs_to_test(list(known))
    both = [[n.correct for n in restrict_to_shared_seeds([known[one], known[two]])] for one, two in pairs]
    gaps = np.array([one - two for one, two in both if one is not None and two is not None])
    generator = np.random.default_rng(derive_seed("images", *known))
    draws = 100 * gaps.mean(1) + resample_images(gaps, generator, IMAGE_DRAWS)
    draws = draws.round(9)  # a difference of 0 counts on both sides and must not become a rounding error
    tests = []
    for (one, two), gap, drawn in zip(pairs, gaps, draws.T, strict=True):
        tail = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
        row = Statistic(
            test="bootstrap_images", subject=one, against=two, cells=len(gap), value=100 * float(gap.mean())
        )
        low, high = quantiles(drawn)
        tests.append(row._replace(low=low, high=high, p_value=min(1.0, 2 * (tail + 1) / (IMAGE_DRAWS + 1))))
    return _correct_p_values(tests)


# ---- ranks and orders


def average_ranks(means: np.ndarray) -> np.ndarray:
    """Return the average ranks (…, methods) over the settings of means (settings, …, methods); 1 is the highest."""
    return np.asarray(stats.rankdata(-means, axis=-1).mean(0))


def kendall(numbers: Mapping[str, Number], paper: Mapping[str, float]) -> Statistic:
    """Kendall's tau-b between our order of the methods that both have a number for and the paper's: 1 the same order,
    -1 the reverse; p by scipy: exact without ties, asymptotic with them."""
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


# ---- the statistics of every experiment as one table


def statistics(
    per_run: pd.DataFrame,
    experiments: Mapping[str, Mapping[str, Any]],
    published: pd.DataFrame,
    predictions: Predictions | None = None,
    tested_on: Mapping[str, int] | None = None,
) -> pd.DataFrame:
    """Return a row per experiment, reading and statistic; `subject` is a method, a setting or a cell.

    per_run      `results.readings`, with the column `complete` of `results.add_complete_flag` if runs may be missing:
                 tests compare the methods seed by seed, but a cell that lacks a seed has no mean
    experiments  name → the `cells` of a table and its `metric`
    tested_on    the number of test images of a dataset
    What could not be computed has a row with a note, once per experiment and not for every reading.
    """
    per_run, rows = per_run.assign(run=results.run_ids(per_run)), []
    for experiment, spec in experiments.items():
        cells = pd.DataFrame(spec["cells"], columns=list(CELL))
        part = per_run.merge(cells, on=list(CELL))
        part = part[part["metric"] == spec.get("metric", ACCURACY)]
        for reading in [one for one in TESTED if part[one].notna().any()]:
            read = part[part[reading].notna()].assign(epochs=EPOCHS.get(reading, 0))
            numbers = collect_numbers(read, reading, predictions or {}, tested_on or {})
            blocks = part[part["complete"]] if "complete" in part else part
            complete = set(blocks[list(CELL)].itertuples(index=False, name=None))
            parts = (_compare_pairs(numbers, reading), _describe_cells(numbers, complete, published))
            data = kind_of_data(part["data"])
            rows += [
                row._replace(experiment=experiment, reading=reading, data=data)
                for row in chain(*parts)
                if not row.note or reading == TESTED[0]
            ]
    return table_of(rows, Statistic)


def _compare_pairs(numbers: Mapping[Scenario, Mapping[str, Number]], reading: str) -> Iterator[Statistic]:
    """Yield the tests of two methods in each setting; a test that no setting has the runs for is noted once."""
    tests = {"paired_t": {at: compare_over_seeds(cells) for at, cells in numbers.items()}}
    if reading == "last10_mean":
        tests["bootstrap_images"] = {at: compare_over_images(cells) for at, cells in numbers.items()}
    for at in numbers:
        yield from (row._replace(setting=str(at)) for by_setting in tests.values() for row in by_setting[at])
    notes = {
        "paired_t": f"tests over seeds need {MIN_SEEDS} seeds of both methods in one setting",
        "bootstrap_images": "tests over images need the test predictions of the runs, which are not there",
    }
    if any(len(cells) > 1 for cells in numbers.values()):
        yield from (Statistic(test=test, note=notes[test]) for test, rows in tests.items() if not any(rows.values()))


def _describe_cells(
    numbers: Mapping[Scenario, Mapping[str, Number]], complete: Collection[tuple[str, ...]], published: pd.DataFrame
) -> Iterator[Statistic]:
    """Yield the agreement with the paper's order in each setting and the interval of each mean over three seeds."""
    for at, cells in numbers.items():
        known = {method: number for method, number in cells.items() if (*at[:3], method) in complete}
        if known:
            yield kendall(known, _printed(published, at))._replace(subject=str(at))
        for method, number in known.items():
            if len(number.by_seed) >= MIN_SEEDS:
                low, high = mean_over_seeds(list(number.by_seed.values())).interval()
                row = Statistic(test="interval", subject=f"{at} {method}", cells=len(number.by_seed))
                yield row._replace(value=number.mean, low=low, high=high)


def _printed(published: pd.DataFrame, at: Scenario) -> dict[str, float]:
    """Return the paper's numbers by method."""
    setting = at._replace(noise=results.published_noise(at.noise))._asdict()
    rows = published[(published[list(setting)] == pd.Series(setting)).all(axis=1)].drop_duplicates("method")
    return dict(zip(rows["method"].map(str), rows["mean"].map(float), strict=True))
