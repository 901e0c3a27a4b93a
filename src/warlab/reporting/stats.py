"""What can be said of runs beyond their means: readings, ranks with their tests, intervals, agreement with the paper.

Whatever needs more runs than there are says so in its `note` and has no p-value.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from warlab.files import derive_seed
from warlab.reporting.results import CELL, finished

LAST = 10  # epochs, the paper's figure of merit
READINGS = ("last10_mean", "last", "best_by_noisy_validation", "best_on_test_diagnostic")
BLOCK = ("dataset", "noise", "net", "seed")  # what all methods of one comparison share
MIN_CELLS = 6  # an exact two-sided Wilcoxon test over five cells cannot fall below 0.0625
MIN_METHODS = 3
MIN_SEEDS = 3
LEVEL = 0.05


class Agreement(NamedTuple):
    """Kendall's tau-b between our order of the methods and the paper's; 1: the same order, -1: the reverse."""

    tau: float
    p_value: float
    methods: int
    note: str


def kendall(ours: Mapping[str, float], published: Mapping[str, float]) -> Agreement:
    """Over the methods that both have a number for; p by scipy: exact without ties, asymptotic with them."""
    common = [method for method in ours if not np.isnan(ours[method]) and not np.isnan(published.get(method, np.nan))]
    if len(common) < MIN_METHODS:
        note = f"only {len(common)} methods have both numbers; an order needs {MIN_METHODS}"
        return Agreement(np.nan, np.nan, len(common), note)
    found = stats.kendalltau([ours[m] for m in common], [published[m] for m in common])
    if np.isnan(found.statistic):
        return Agreement(np.nan, np.nan, len(common), "all numbers of one side are equal: there is no order")
    return Agreement(float(found.statistic), float(found.pvalue), len(common), "")


def readings(runs: pd.DataFrame, last: int = LAST) -> pd.DataFrame:
    """One row per finished run: CELL, seed, data and the READINGS of its test accuracy in percent.

    best_by_noisy_validation is the test accuracy of the epoch with the highest val_accuracy (the first of several),
    empty where a run logs none. best_on_test_diagnostic chooses by the test labels: nobody may report it as a result.
    """
    keys = [*CELL, "seed", "data"]
    done = finished(runs).sort_values("epoch", kind="stable")
    rows = [
        {**dict(zip(keys, key, strict=True)), **_readings(run, last)} for key, run in done.groupby(keys, sort=False)
    ]
    return pd.DataFrame(rows, columns=[*keys, *READINGS])


def _readings(run: pd.DataFrame, last: int) -> dict[str, float]:
    run = run[run["test_accuracy"].notna()]  # an epoch may be left untested, none of the last ten
    accuracy = run["test_accuracy"].to_numpy(float)
    return {
        "last10_mean": float(accuracy[-last:].mean()),
        "last": float(accuracy[-1]),
        "best_by_noisy_validation": _by_validation(run, accuracy),
        "best_on_test_diagnostic": float(accuracy.max()),
    }


def _by_validation(run: pd.DataFrame, accuracy: np.ndarray) -> float:
    if "val_accuracy" not in run or run["val_accuracy"].isna().all():
        return np.nan
    return float(accuracy[np.nanargmax(run["val_accuracy"].to_numpy(float))])


class Interval(NamedTuple):
    low: float
    high: float
    note: str


def bootstrap(values: Sequence[float], draws: int = 10_000) -> Interval:
    """95 % percentile interval of the mean over seeds; the draws depend on the values alone."""
    numbers = np.asarray([value for value in values if not np.isnan(value)], float)
    if len(numbers) < MIN_SEEDS:
        return Interval(np.nan, np.nan, f"{len(numbers)} seeds; an interval needs {MIN_SEEDS}")
    generator = np.random.default_rng(derive_seed("bootstrap", *numbers.tolist()))
    means = generator.choice(numbers, (draws, len(numbers))).mean(1)
    low, high = np.percentile(means, [2.5, 97.5])
    return Interval(float(low), float(high), "")


class Pair(NamedTuple):
    """Two methods over all cells; p by Wilcoxon's signed-rank test, Holm-corrected, and by Nemenyi's."""

    first: str
    second: str
    difference: float  # mean of first minus second, points
    wilcoxon_holm: float
    nemenyi: float


@dataclass(frozen=True)
class Comparison:
    """Several methods over the same cells (dataset, noise, net, seed); rank 1 is the best."""

    ranks: dict[str, float]
    cells: int
    statistic: float = np.nan  # Friedman's chi-square
    p_value: float = np.nan
    critical_difference: float = np.nan  # of average ranks, Nemenyi, at LEVEL
    pairs: list[Pair] = field(default_factory=list)
    note: str = ""


def blocks(per_run: pd.DataFrame, methods: Sequence[str], reading: str = "last10_mean") -> pd.DataFrame:
    """Cells × methods; a cell in which one of the methods has no run is left out whole."""
    chosen = per_run[per_run["method"].isin(list(methods))]
    wide = chosen.pivot_table(index=list(BLOCK), columns="method", values=reading, sort=False)
    return wide.reindex(columns=list(methods)).dropna()


def compare(wide: pd.DataFrame) -> Comparison:
    """Friedman's test over complete cells and, behind it, both corrections of pairwise tests (Demšar 2006)."""
    cells, methods = wide.shape
    ranks = wide.rank(axis=1, ascending=False).mean().to_dict() if cells else {}
    average = {str(method): float(rank) for method, rank in ranks.items()}
    if methods < MIN_METHODS or cells < MIN_CELLS:
        note = f"{methods} methods in {cells} complete cells; a test needs {MIN_METHODS} and {MIN_CELLS}"
        return Comparison(average, cells, note=note)
    statistic, p_value = stats.friedmanchisquare(*(wide[method] for method in wide))
    difference = critical_difference(methods, cells)
    return Comparison(average, cells, float(statistic), float(p_value), difference, _pairs(wide, average))


def critical_difference(methods: int, cells: int, level: float = LEVEL) -> float:
    """Nemenyi: two average ranks differ at `level` if they are further apart than this."""
    quantile = stats.studentized_range.ppf(1 - level, methods, np.inf) / np.sqrt(2)
    return float(quantile * _standard_error(methods, cells))


def _standard_error(methods: int, cells: int) -> float:
    return float(np.sqrt(methods * (methods + 1) / (6 * cells)))


def _pairs(wide: pd.DataFrame, ranks: Mapping[str, float]) -> list[Pair]:
    names = list(combinations(map(str, wide.columns), 2))
    corrected = holm([_wilcoxon(wide[first] - wide[second]) for first, second in names])
    error = _standard_error(wide.shape[1], len(wide))
    distances = [abs(ranks[first] - ranks[second]) / error * np.sqrt(2) for first, second in names]
    nemenyi = [float(stats.studentized_range.sf(distance, wide.shape[1], np.inf)) for distance in distances]
    return [
        Pair(first, second, float((wide[first] - wide[second]).mean()), p, n)
        for (first, second), p, n in zip(names, corrected, nemenyi, strict=True)
    ]


def _wilcoxon(differences: pd.Series) -> float:
    """1 where the two never differ, which the test itself refuses."""
    return float(stats.wilcoxon(differences).pvalue) if (differences != 0).any() else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm 1979: the k-th smallest of n times n - k + 1, kept in order and at most 1."""
    values = np.asarray(p_values, float)
    order = np.argsort(values, kind="stable")
    steps = np.minimum(1, np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1)))
    corrected = np.empty_like(values)
    corrected[order] = steps
    return corrected.tolist()
