"""Readings of runs, tests of ranks over settings, and the agreement with the paper's order of the methods.

A test that needs more runs than there are says so in its `note` and has no p-value.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from warlab.common.readings import LAST
from warlab.common.wording import several
from warlab.reporting.read.results import (
    ACCURACY,
    CELL,
    READINGS,
    RUN,
    SETTING,
    finished_runs,
    last_epochs,
    read_at_best,
)
from warlab.reporting.stats.intervals import LEVEL

NOISY = "validation_accuracy"  # on the split that is kept from training, with its noisy labels
MIN_SETTINGS = 6  # an exact two-sided Wilcoxon test over five cannot fall below 0.0625
MIN_METHODS = 3


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


def kendall(ours: Mapping[str, float], published: Mapping[str, float]) -> Statistic:
    """Kendall's tau-b between our order of the methods that both have a number for and the paper's: 1 the same order,
    -1 the reverse; p by scipy: exact without ties, asymptotic with them."""
    common = [method for method in ours if not np.isnan(ours[method]) and not np.isnan(published.get(method, np.nan))]
    row = Statistic(test="kendall", against="paper", cells=len(common))
    if len(common) < MIN_METHODS:
        note = f"only {several(len(common), 'method')} with both numbers; an order needs {MIN_METHODS}"
        return row._replace(note=note)
    found = stats.kendalltau([ours[m] for m in common], [published[m] for m in common])
    if np.isnan(found.statistic):
        return row._replace(note="all numbers of one side are equal: there is no order")
    return row._replace(value=float(found.statistic), p_value=float(found.pvalue))


def taus(ours: np.ndarray, published: Sequence[float]) -> np.ndarray:
    """Kendall's tau-b of each row (draws, methods) with one order (methods,)."""
    first, second = np.triu_indices(ours.shape[1], 1)
    signs, printed = np.sign(ours[:, first] - ours[:, second]), np.asarray(published, float)
    theirs = np.sign(printed[first] - printed[second])
    return (signs @ theirs) / np.sqrt((signs**2).sum(1) * (theirs**2).sum())


def readings(runs: pd.DataFrame, last: int = LAST, metric: str = ACCURACY) -> pd.DataFrame:
    """One row per finished run that has the metric: CELL, seed, data, metric and its READINGS in percent.

    best_by_noisy_validation is that of the epoch with the highest accuracy on the noisy validation split (the first of
    several), empty if a run has no such split. best_on_test_diagnostic chooses by the test labels and must not be
    reported as a result.
    """
    done, run = finished_runs(runs), [*CELL, "seed"]
    done = done[done[metric].notna()] if metric in done else done.head(0).assign(**{metric: np.nan})
    by_run = done.sort_values("epoch", kind="stable").groupby(run, sort=False)
    read = pd.DataFrame(
        {
            "data": by_run["data"].first(),
            "last10_mean": last_epochs(done, [metric], last)["mean"].droplevel("metric"),
            "last": by_run[metric].last(),
            "best_by_noisy_validation": read_at_best(done, NOISY, metric).astype(float),
            "best_on_test_diagnostic": by_run[metric].max(),
        },
        index=by_run.size().index,
    )
    return read.reset_index().assign(metric=metric)[[*RUN, "metric", *READINGS]]


def blocks(per_run: pd.DataFrame, methods: Sequence[str], reading: str = "last10_mean") -> pd.DataFrame:
    """Settings × methods, means over seeds (two seeds are not two settings); complete settings only."""
    chosen = per_run[per_run["method"].isin(list(methods))]
    wide = chosen.pivot_table(index=SETTING, columns="method", values=reading, sort=False)
    return wide.reindex(columns=list(methods)).dropna()


def compare(wide: pd.DataFrame) -> Iterator[Statistic]:
    """Average ranks (1 is the best), Friedman's test over complete settings and, behind it, both corrections of
    pairwise tests (Demšar 2006): Wilcoxon's with Holm's, and Nemenyi's."""
    cells, methods = wide.shape
    row, ranks = Statistic(cells=cells), average_ranks(wide) if cells else pd.Series(dtype=float)
    enough = methods >= MIN_METHODS and cells >= MIN_SETTINGS
    if enough:
        found = stats.friedmanchisquare(*(wide[method] for method in wide))
        yield row._replace(test="friedman", value=float(found.statistic), p_value=float(found.pvalue))
        yield row._replace(test="critical_difference", value=critical_difference(methods, cells))
    else:
        note = f"ranks are tested over settings, of {MIN_METHODS} methods in {MIN_SETTINGS} settings or more"
        yield row._replace(test="friedman", note=note)
    for method, rank in ranks.items():
        yield row._replace(test="average_rank", subject=str(method), value=float(rank))
    yield from _pairs(wide, ranks) if enough else ()


def average_ranks(numbers: pd.DataFrame) -> pd.Series:
    """The average rank of each method (column) over the settings (rows)."""
    return numbers.rank(axis=1, ascending=False).mean()


def critical_difference(methods: int, cells: int) -> float:
    """Nemenyi: two average ranks differ at the level of 5 % if they are further apart than this."""
    quantile = stats.studentized_range.ppf(LEVEL, methods, np.inf) / np.sqrt(2)
    return float(quantile * _standard_error(methods, cells))


def _standard_error(methods: int, cells: int) -> float:
    return float(np.sqrt(methods * (methods + 1) / (6 * cells)))


def _pairs(wide: pd.DataFrame, ranks: pd.Series) -> Iterator[Statistic]:
    names = list(combinations(map(str, wide.columns), 2))
    corrected = holm([signed_rank(wide[first] - wide[second]) for first, second in names])
    error = _standard_error(wide.shape[1], len(wide))
    for (first, second), p_value in zip(names, corrected, strict=True):
        distance = abs(ranks[first] - ranks[second]) / error * np.sqrt(2)
        nemenyi = float(stats.studentized_range.sf(distance, wide.shape[1], np.inf))
        value = float((wide[first] - wide[second]).mean())
        row = Statistic(subject=first, against=second, cells=len(wide), value=value)
        yield row._replace(test="wilcoxon_holm", p_value=p_value)
        yield row._replace(test="nemenyi", p_value=nemenyi)


def signed_rank(differences: pd.Series | np.ndarray) -> float:
    """The p-value of Wilcoxon's test; 1 if all differences are 0, for which scipy has no answer."""
    return float(stats.wilcoxon(differences).pvalue) if (differences != 0).any() else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm 1979: the k-th smallest of n times n - k + 1, kept in order and at most 1."""
    values = np.asarray(p_values, float)
    order = np.argsort(values, kind="stable")
    steps = np.minimum(1, np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1)))
    corrected = np.empty_like(values)
    corrected[order] = steps
    return corrected.tolist()
