"""The statistics of every experiment as one tidy table."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypedDict

import numpy as np
import pandas as pd

from warlab.common.readings import LAST
from warlab.common.seeds import derive_seed
from warlab.reporting.read import results
from warlab.reporting.read.csv_rows import table_of
from warlab.reporting.read.predictions import Predictions
from warlab.reporting.read.results import ACCURACY, CELL, Scenario, group_by_setting, kind_of_data
from warlab.reporting.stats import intervals, over_settings, pairs
from warlab.reporting.stats.intervals import Number
from warlab.reporting.stats.over_settings import Statistic

CHOSEN = tuple(reading for reading in results.READINGS if not reading.endswith("diagnostic"))
EPOCHS = {"last10_mean": LAST, "last": 1}  # reading → over how many epochs it is a mean
NO_SEEDS = f"tests over seeds need {intervals.MIN_SEEDS} seeds of both methods in one setting"
NO_IMAGES = "tests over images need the test predictions of the runs, which are not there"


class Experiment(TypedDict, total=False):
    """What is compared: the cells of a table, the runs that have another name in it, and its metric."""

    title: str
    cells: Sequence[Sequence[str]]
    trained_as: Sequence[Sequence[str]]
    metric: str


def statistics(
    per_run: pd.DataFrame,
    experiments: Mapping[str, Experiment],
    published: pd.DataFrame,
    kept: Predictions | None = None,
    tested_on: Mapping[str, int] | None = None,
) -> pd.DataFrame:
    """A row per experiment, reading and statistic; `subject` is a method, a setting or a cell.

    per_run    `over_settings.readings`, with the column `whole` of `with_whole` if runs may be missing: tests compare
               the methods seed by seed, but a cell that lacks a seed has no mean
    kept       the predictions of the runs
    tested_on  the number of test images of a dataset
    What could not be computed has a row with a note, once per experiment and not for every reading.
    """
    per_run = per_run.assign(run=results.run_ids(per_run))
    found = [
        row._replace(experiment=experiment, reading=reading)
        for experiment, spec in experiments.items()
        for shown in [_shown(per_run, spec)]
        for reading in CHOSEN
        if shown[reading].notna().any()
        for row in _rows(shown, spec, published, reading, kept or {}, tested_on or {})
        if not row.note or reading == CHOSEN[0]
    ]
    return table_of(found, Statistic)


def with_whole(per_run: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """The readings with a column that says whether all runs of their cell in `runs` are finished."""
    cells, whole = (pd.MultiIndex.from_frame(table[list(CELL)]) for table in (per_run, results.complete_cells(runs)))
    return per_run.assign(whole=cells.isin(whole))


def _shown(per_run: pd.DataFrame, spec: Experiment) -> pd.DataFrame:
    """The runs of the experiment's cells, with the names and the metric of its table."""
    cells = pd.DataFrame(spec["cells"], columns=list(CELL))
    shown = results.add_aliases(per_run, spec["trained_as"]).merge(cells, on=list(CELL))
    return shown[shown["metric"] == spec.get("metric", ACCURACY)]


def _rows(
    shown: pd.DataFrame,
    spec: Experiment,
    published: pd.DataFrame,
    reading: str,
    kept: Predictions,
    tested_on: Mapping[str, int],
) -> Iterator[Statistic]:
    methods = list(dict.fromkeys(cell[3] for cell in spec["cells"]))
    read = shown[shown[reading].notna()]
    numbers = intervals.numbers_of(read, reading, kept, lambda _: EPOCHS.get(reading, 0), tested_on)
    lacking = shown[~shown["whole"]] if "whole" in shown else shown.head(0)
    gaps = set(zip(*(lacking[kind] for kind in CELL), strict=True))
    whole = {
        at: {method: number for method, number in found.items() if (*at[:3], method) not in gaps}
        for at, found in numbers.items()
    }
    parts: list[Iterable[Statistic]] = [
        over_settings.compare(over_settings.blocks(shown.drop(lacking.index), methods, reading)),
        pairs.across(list(whole.values())),
        _setting_rows(shown, numbers, reading, kept),
        (_agreement_row(at, found, published) for at, found in whole.items() if found),
        (row for at, found in whole.items() for row in _interval_rows(at, found)),
    ]
    data = kind_of_data(shown["data"])
    yield from (row._replace(data=data) for part in parts for row in part)


def _setting_rows(
    shown: pd.DataFrame, numbers: Mapping[Scenario, Mapping[str, Number]], reading: str, kept: Predictions
) -> Iterator[Statistic]:
    """Tests of two methods, or of all, in one setting; a test that no setting has the runs for is noted once."""
    seeds = {str(at): [*pairs.over_seeds(found), *pairs.among_all(found)] for at, found in numbers.items()}
    images: dict[str, list[Statistic]] = {}
    if reading == "last10_mean":
        images = {str(at): pairs.over_images(found) for at, found in numbers.items()}
    elif reading == "last":
        images = {str(at): pairs.mcnemar(part, kept) for at, part in group_by_setting(shown)}
    for at, _ in group_by_setting(shown):
        yield from (row._replace(setting=str(at)) for tests in (seeds, images) for row in tests.get(str(at), ()))
    several = any(len(found) > 1 for found in numbers.values())
    for tests, test, note in ((seeds, "paired_t", NO_SEEDS), (images, "bootstrap_images", NO_IMAGES)):
        if several and not any(tests.values()):
            yield Statistic(test=test, note=note)


def _agreement_row(at: Scenario, numbers: Mapping[str, Number], published: pd.DataFrame) -> Statistic:
    paper = _paper(published, at)
    row = over_settings.kendall({method: number.mean for method, number in numbers.items()}, paper)
    low, high = interval_of_tau(numbers, paper) if not row.note else (np.nan, np.nan)
    return row._replace(subject=str(at), low=low, high=high)


def interval_of_tau(numbers: Mapping[str, Number], paper: Mapping[str, float]) -> tuple[float, float]:
    """The 95 % interval of Kendall's tau on resampled seeds or images."""
    common = [method for method in numbers if not np.isnan(paper.get(method, np.nan))]
    generator = np.random.default_rng(derive_seed("kendall", *common))
    means, basis = intervals.resampled([numbers[method] for method in common], generator)
    if not basis:
        return np.nan, np.nan
    low, high = np.nanquantile(over_settings.taus(means, [paper[method] for method in common]), [0.025, 0.975])
    return float(low), float(high)


def _paper(published: pd.DataFrame, at: Scenario) -> dict[str, float]:
    setting = at._replace(noise=results.published_noise(at.noise))._asdict()
    rows = published[(published[list(setting)] == pd.Series(setting)).all(axis=1)].drop_duplicates("method")
    return dict(zip(rows["method"].map(str), rows["mean"].map(float), strict=True))


def _interval_rows(at: Scenario, numbers: Mapping[str, Number]) -> Iterator[Statistic]:
    """The mean of each cell with its 95 % interval over seeds, from three seeds on."""
    for method, number in numbers.items():
        if len(number.by_seed) >= intervals.MIN_SEEDS:
            low, high = intervals.of_seeds(list(number.by_seed.values())).interval()
            row = Statistic(test="interval", subject=f"{at} {method}", cells=len(number.by_seed))
            yield row._replace(value=number.mean, low=low, high=high)


def all_readings(runs: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """The readings of every run in each of the metrics that tables show."""
    wanted = dict.fromkeys([ACCURACY, *metrics])
    return pd.concat([over_settings.readings(runs, metric=metric) for metric in wanted], ignore_index=True)
