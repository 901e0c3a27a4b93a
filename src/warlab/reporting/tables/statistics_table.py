"""The statistics of all experiments: as a table, as statistics.md, and in the section of the report."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from warlab.common.readings import LAST
from warlab.common.wording import several
from warlab.reporting.formats import Row, render, signed
from warlab.reporting.names import PROPOSED, Labels, display_name, escape_markdown, markdown_method
from warlab.reporting.read import results
from warlab.reporting.read.csv_rows import rows_of, table_of
from warlab.reporting.read.numbers import Number, collect_numbers
from warlab.reporting.read.predictions import Predictions
from warlab.reporting.read.results import ACCURACY, CELL, Scenario, kind_of_data
from warlab.reporting.stats import (
    MIN_SEEDS,
    Statistic,
    compare_over_images,
    compare_over_seeds,
    interval_over_seeds,
    kendall,
)

ASSETS = ("reporting/templates/statistics.md",)
READING = {  # best_on_test_diagnostic chooses by the test labels and is tested nowhere
    "last10_mean": "mean of the last ten epochs",
    "last": "last epoch",
    "best_by_noisy_validation": "epoch chosen on noisy validation labels",
}
EPOCHS = {"last10_mean": LAST, "last": 1}  # reading → over how many epochs it is a mean
PAIRS = {  # tests of two methods: the name of the test, and what it counts
    "paired_t": ("paired t over seeds", "seed"),
    "bootstrap_images": ("paired bootstrap over test samples", "sample"),
}
OTHERS = {"kendall": ("Kendall's τ with the paper", "method")}


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
    tested_on    the number of test samples of a dataset
    What could not be computed has a row with a note, once per experiment and not for every reading.
    """
    rows: list[Statistic] = []
    per_run = per_run.assign(run=results.run_ids(per_run), complete=per_run.get("complete", True))
    for experiment, spec in experiments.items():
        part = per_run.merge(pd.DataFrame(spec["cells"], columns=list(CELL)), on=list(CELL))
        part = part[part["metric"] == spec.get("metric", ACCURACY)]
        data, complete = kind_of_data(part["data"]), part[part["complete"]]
        cells = set(complete[list(CELL)].itertuples(index=False, name=None))
        for reading in [one for one in READING if part[one].notna().any()]:
            read = part[part[reading].notna()].assign(epochs=EPOCHS.get(reading, 0))
            numbers = collect_numbers(read, reading, predictions or {}, tested_on or {})
            means = {at: {m: n for m, n in row.items() if (*at[:3], m) in cells} for at, row in numbers.items()}
            found = [*_compare_pairs(numbers, reading), *_describe_means(means, published)]
            rows += [
                row._replace(experiment=experiment, reading=reading, data=data)
                for row in found
                if not row.note or reading == next(iter(READING))
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
        "bootstrap_images": "tests over test samples need the test predictions of the runs, which are not there",
    }
    if any(len(cells) > 1 for cells in numbers.values()):
        yield from (Statistic(test=test, note=notes[test]) for test, rows in tests.items() if not any(rows.values()))


def _describe_means(numbers: Mapping[Scenario, Mapping[str, Number]], published: pd.DataFrame) -> Iterator[Statistic]:
    """Yield the agreement with the paper's order in each setting and the interval of each mean over three seeds."""
    for at, means in numbers.items():
        if means:
            setting = at._replace(noise=results.published_noise(at.noise))._asdict()
            rows = published[(published[list(setting)] == pd.Series(setting)).all(axis=1)].drop_duplicates("method")
            paper = dict(zip(rows["method"].map(str), rows["mean"].map(float), strict=True))
            yield kendall(means, paper)._replace(subject=str(at))
        for method, number in means.items():
            low, high = interval_over_seeds(list(number.by_seed.values()))
            if not np.isnan(low):
                row = Statistic(test="interval", subject=f"{at} {method}", cells=len(number.by_seed))
                yield row._replace(value=number.mean, low=low, high=high)


def to_markdown(table: pd.DataFrame, titles: Mapping[str, str], labels: Labels) -> str:
    """Return a section per experiment and reading, and at the end what could not be computed."""
    printed = table[(table["note"] == "") & table["test"].isin([*PAIRS, *OTHERS])]
    return render(
        "statistics.md",
        sections=[
            (titles.get(experiment, experiment), READING[reading], rows_of(rows, Statistic))
            for key, rows in printed.groupby(["experiment", "reading"], sort=False)
            for experiment, reading in [map(str, key)]
        ],
        missing=[(note, ", ".join(titles.get(one, one) for one in where)) for note, where in collect_notes(table)],
        method=partial(markdown_method, labels),
        setting_name=lambda setting: escape_markdown(Scenario.parse(setting).display_name(labels)),
        tests=PAIRS,
        interval=interval_text,
        p=p_text,
        several=several,
        signed=signed,
    )


def collect_notes(table: pd.DataFrame) -> list[tuple[str, list[str]]]:
    """Return every reason why something could not be computed, with the experiments that it concerns."""
    notes: dict[str, dict[str, None]] = {}
    for row in rows_of(table[table["note"] != ""], Statistic):
        note = row.note if row.test != "kendall" else f"the paper's order, {row.note}"
        notes.setdefault(note, {})[row.experiment] = None
    return [(note, list(where)) for note, where in notes.items()]


def interval_text(row: Statistic) -> str:
    return "" if np.isnan(row.low) else f"{signed(row.low)} to {signed(row.high)}"


def p_text(row: Statistic) -> str:
    if np.isnan(row.p_value):
        return ""
    return "< 0.001" if row.p_value < 0.001 else f"{row.p_value:.3f}"


def page_rows(table: pd.DataFrame, labels: Labels) -> list[Row]:
    """Return the rows of most interest, with printed names: those of the paper's reading, and pairs with its method."""
    known = PAIRS | OTHERS
    rows: list[Row] = []
    for row in rows_of(table[(table["note"] == "") & (table["reading"] == "last10_mean")], Statistic):
        if row.test not in known or (row.test in PAIRS and PROPOSED not in (row.subject, row.against)):
            continue
        setting, method = (row.subject, "") if row.test == "kendall" else (row.setting, row.subject)
        rows.append(
            {
                "experiment": _title(row.experiment, labels),
                "statistic": known[row.test][0],
                "setting": Scenario.parse(setting).display_name(labels),
                "of": display_name(labels, "method", method) if method else "",
                "against": display_name(labels, "method", row.against),
                "over": several(row.cells, known[row.test][1]),
                "value": row.value,
                "95 %": interval_text(row),
                "p": p_text(row),
                "note": "stand-in data" if row.data == "stand-in" else "",
            }
        )
    return rows


def page_notes(table: pd.DataFrame, labels: Labels) -> list[str]:
    """Return what could not be computed, each with the experiments that it concerns in brackets."""
    return [f"{note} ({', '.join(_title(one, labels) for one in where)})" for note, where in collect_notes(table)]


def _title(experiment: str, labels: Labels) -> str:
    return display_name(labels, "experiment", experiment).replace("_", " ")


def page_readings(per_run: pd.DataFrame, labels: Labels) -> list[Row]:
    """Return a row per cell with the means of its readings over the seeds; the last one chooses by the test labels."""
    columns = {
        "last10_mean": "last ten epochs",
        "last": "last epoch",
        "best_by_noisy_validation": "chosen by noisy validation",
        "best_on_test_diagnostic": "best on test (diagnostic)",
    }
    return [
        {
            **{kind: display_name(labels, kind, str(id)) for kind, id in zip((*CELL, "metric"), key, strict=True)},
            "seeds": cell["seed"].nunique(),
            **{title: "" if np.isnan(mean := cell[key].mean()) else mean for key, title in columns.items()},
            "data": "stand-in" if kind_of_data(cell["data"]) == "stand-in" else "",
        }
        for key, cell in per_run.groupby([*CELL, "metric"], sort=False)
    ]
