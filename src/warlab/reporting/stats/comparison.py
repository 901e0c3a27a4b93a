"""The statistics of every experiment as one tidy table."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from warlab.common.seeds import derive_seed
from warlab.reporting.claims.evidence import paths_of
from warlab.reporting.read.predictions import Kept
from warlab.reporting.read.results import CELL, complete, plain_text, read_csv, under_other_names
from warlab.reporting.stats import intervals, over_settings, pairs
from warlab.reporting.stats.intervals import Number

COLUMNS = (
    "experiment",
    "reading",
    "test",
    "setting",  # where a test is about one of them: dataset, noise, net
    "subject",
    "against",
    "cells",  # settings, seeds, images or methods that the test counts
    "value",
    "low",
    "high",
    "p_value",
    "data",
    "note",
)
TEXTS = dict.fromkeys(("setting", "subject", "against", "note"), "")
CHOSEN = tuple(reading for reading in over_settings.READINGS if not reading.endswith("diagnostic"))
Spec = Mapping[str, Any]  # cells (dataset, noise, net, method), trained_as and metric, as the workflow gives them
NO_SEEDS = f"tests over seeds need {intervals.MIN_SEEDS} seeds of both methods in one setting"
NO_IMAGES = "tests over images need the test predictions of the runs, which are not there"


def statistics(
    per_run: pd.DataFrame,
    experiments: Mapping[str, Spec],
    published: pd.DataFrame,
    kept: Kept | None = None,
    tested_on: Mapping[str, int] | None = None,
) -> pd.DataFrame:
    """A row per experiment, reading and statistic; `subject` is a method, a setting or a cell.

    `per_run` are `over_settings.readings`, with the column `whole` from `with_whole` where runs may be missing: tests
    compare the methods seed by seed, but no mean is made of a cell that lacks a seed.
    `kept` are the predictions of the runs, `tested_on` says how many test images a dataset has.
    What could not be computed has a row with a note, once per experiment and not for every reading.
    """
    per_run = per_run.assign(run=paths_of(per_run))
    found = [
        {**TEXTS, "experiment": experiment, "reading": reading, **row}
        for experiment, spec in experiments.items()
        for shown in [_shown(per_run, spec)]
        for reading in CHOSEN
        if shown[reading].notna().any()
        for row in _rows(shown, spec, published, reading, kept or Kept(), tested_on or {})
        if not row.get("note") or reading == CHOSEN[0]
    ]
    return pd.DataFrame(found, columns=list(COLUMNS))


def with_whole(per_run: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """The readings with a column that says whether all runs of their cell are there, which `runs` knows."""
    cells = complete(runs)[list(CELL)].drop_duplicates().assign(whole=True)
    found = per_run.merge(cells, on=list(CELL), how="left")
    return found.assign(whole=found["whole"].notna())


def _shown(per_run: pd.DataFrame, spec: Spec) -> pd.DataFrame:
    """The runs of the experiment's cells, under the names that its table has for them, in the table's own metric."""
    cells = pd.DataFrame(spec["cells"], columns=list(CELL))
    shown = under_other_names(per_run, spec["trained_as"]).merge(cells, on=list(CELL))
    return shown[shown["metric"] == _metric(spec)]


def _metric(spec: Spec) -> str:
    return str(spec.get("metric", "test_accuracy"))


def _rows(
    shown: pd.DataFrame, spec: Spec, published: pd.DataFrame, reading: str, kept: Kept, tested_on: Mapping[str, int]
) -> Iterator[dict[str, Any]]:
    methods = list(dict.fromkeys(cell[3] for cell in spec["cells"]))
    data = {"data": "stand-in" if "stand-in" in set(shown["data"]) else "real"}
    settings = {" ".join(map(str, key)): group for key, group in shown.groupby(list(CELL[:3]), sort=False)}
    images = {name: tested_on.get(name.split(" ")[0], 0) for name in settings if _metric(spec) == "test_accuracy"}
    numbers = {name: pairs.numbers_of(group, reading, kept, images.get(name, 0)) for name, group in settings.items()}
    lacking = shown[~shown["whole"]] if "whole" in shown else shown.head(0)
    gaps = set(zip(*(lacking[kind] for kind in CELL), strict=True))
    whole = {
        name: {method: found[method] for method in found if (*name.split(" "), method) not in gaps}
        for name, found in numbers.items()
    }
    parts = [
        _test_rows(over_settings.compare(over_settings.blocks(shown.drop(lacking.index), methods, reading))),
        pairs.rows(pairs.across(list(whole.values()))),
        _setting_rows(settings, numbers, reading, kept),
        (_agreement_row(name, found, published, spec) for name, found in whole.items() if found),
        (row for name, found in whole.items() for row in _interval_rows(name, found)),
    ]
    yield from (data | row for part in parts for row in part)


def _test_rows(found: over_settings.Comparison) -> Iterator[dict[str, Any]]:
    common = {"cells": found.cells}
    yield {**common, "test": "friedman", "value": found.statistic, "p_value": found.p_value, "note": found.note}
    if not np.isnan(found.critical_difference):
        yield {**common, "test": "critical_difference", "value": found.critical_difference}
    for method, rank in found.ranks.items():
        yield {**common, "test": "average_rank", "subject": method, "value": rank}
    for pair in found.pairs:
        both = {**common, "subject": pair.first, "against": pair.second, "value": pair.difference}
        yield {**both, "test": "wilcoxon_holm", "p_value": pair.wilcoxon_holm}
        yield {**both, "test": "nemenyi", "p_value": pair.nemenyi}


def _setting_rows(
    settings: Mapping[str, pd.DataFrame], numbers: Mapping[str, Mapping[str, Number]], reading: str, kept: Kept
) -> Iterator[dict[str, Any]]:
    """Two methods, or all of them, in one setting; what no setting has the runs for is noted once."""
    seeds = {name: [*pairs.over_seeds(found), *pairs.among_all(found)] for name, found in numbers.items()}
    images = {name: pairs.over_images(found) if reading == CHOSEN[0] else [] for name, found in numbers.items()}
    if reading == "last":
        images = {name: pairs.mcnemar(group, kept) for name, group in settings.items()}
    for name in settings:
        yield from pairs.rows([*seeds[name], *images[name]], setting=name)
    several = any(len(found) > 1 for found in numbers.values())
    for tests, test, note in ((seeds, "paired_t", NO_SEEDS), (images, "bootstrap_images", NO_IMAGES)):
        if several and not any(tests.values()):
            yield {"test": test, "note": note}


def _agreement_row(setting: str, numbers: Mapping[str, Number], published: pd.DataFrame, spec: Spec) -> dict[str, Any]:
    dataset, noise, net = setting.split(" ")
    paper = _paper(published, dataset, noise, net, _metric(spec))
    found = over_settings.kendall({method: number.mean for method, number in numbers.items()}, paper)
    named = {"test": "kendall", "subject": setting, "against": "paper", "cells": found.methods}
    low, high = _span(numbers, paper) if not found.note else (np.nan, np.nan)
    return {**named, "value": found.tau, "low": low, "high": high, "p_value": found.p_value, "note": found.note}


def _span(numbers: Mapping[str, Number], paper: Mapping[str, float]) -> tuple[float, float]:
    """95 % of Kendall's tau on resampled seeds or images."""
    common = [method for method in numbers if not np.isnan(paper.get(method, np.nan))]
    generator = np.random.default_rng(derive_seed("kendall", *common))
    means, basis = intervals.resampled([numbers[method] for method in common], generator)
    if not basis:
        return np.nan, np.nan
    low, high = np.nanquantile(over_settings.taus(means, [paper[method] for method in common]), [0.025, 0.975])
    return float(low), float(high)


def _paper(published: pd.DataFrame, dataset: str, noise: str, net: str, metric: str) -> dict[str, float]:
    setting = {"dataset": dataset, "noise": noise.replace("asym_code-", "asym-"), "net": net, "metric": metric}
    rows = published[(published[list(setting)] == pd.Series(setting)).all(axis=1)]
    first = rows.drop_duplicates("method")
    return dict(zip(first["method"].map(str), first["mean"].map(float), strict=True))


def _interval_rows(setting: str, numbers: Mapping[str, Number]) -> Iterator[dict[str, Any]]:
    """The mean of each cell with its 95 % interval over seeds, from three seeds on."""
    for method, number in numbers.items():
        if len(number.by_seed) >= intervals.MIN_SEEDS:
            low, high = intervals.of_seeds(list(number.by_seed.values())).interval()
            named = {"test": "interval", "subject": f"{setting} {method}", "cells": len(number.by_seed)}
            yield {**named, "value": number.mean, "low": low, "high": high}


def all_readings(runs: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """The readings of every run in each of the metrics that tables show."""
    wanted = dict.fromkeys(["test_accuracy", *metrics])
    return pd.concat([over_settings.readings(runs, metric=metric) for metric in wanted], ignore_index=True)


def read_statistics(path: Path) -> pd.DataFrame:
    text = ("experiment", "reading", "test", "setting", "subject", "against", "data", "note")
    return plain_text(read_csv(path, COLUMNS, dtype=dict.fromkeys(text, "string")), text)
