"""Statistics as text: statistics.md and the section of the report."""

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd

from warlab.common.wording import several
from warlab.reporting.formats import Row, render, signed
from warlab.reporting.names import PROPOSED, Labels, display_name, escape_markdown, markdown_method
from warlab.reporting.read.csv_rows import rows_of
from warlab.reporting.read.results import CELL, Scenario, kind_of_data
from warlab.reporting.stats import Statistic

ASSETS = ("reporting/templates/statistics.md",)
NOT_COMPUTED = "not computed"
READING = {
    "last10_mean": "mean of the last ten epochs",
    "last": "last epoch",
    "best_by_noisy_validation": "epoch chosen on noisy validation labels",
}
PAIRS = {  # tests of two methods: the name of the test, and what it counts
    "paired_t": ("paired t over seeds", "seed"),
    "bootstrap_images": ("paired bootstrap over test images", "image"),
}
OTHERS = {"kendall": ("Kendall's τ with the paper", "method")}


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
    """Return the rows of most interest, with printed names: those of the paper's reading, pairs only with the paper's
    method; then what could not be computed."""
    known = PAIRS | OTHERS
    rows: list[Row] = []
    for row in rows_of(table[table["note"] == ""], Statistic):
        if row.test not in known or row.reading != "last10_mean":
            continue
        if row.test in PAIRS and PROPOSED not in (row.subject, row.against):
            continue
        setting, method = (row.subject, "") if row.test == "kendall" else (row.setting, row.subject)
        rows.append(
            {
                "experiment": _title(row.experiment, labels),
                "statistic": known[row.test][0],
                "setting": Scenario.parse(setting).display_name(labels) if setting else "",
                "of": display_name(labels, "method", method) if method else "",
                "against": display_name(labels, "method", row.against) if row.against else "",
                "over": several(row.cells, known[row.test][1]),
                "value": row.value,
                "95 %": interval_text(row),
                "p": p_text(row),
                "note": "stand-in data" if row.data == "stand-in" else "",
            }
        )
    empty = dict.fromkeys(rows[0], "") if rows else {}
    for note, experiments in collect_notes(table):
        concerned = ", ".join(_title(one, labels) for one in experiments)
        rows.append({**empty, "experiment": concerned, "statistic": NOT_COMPUTED, "note": note})
    return rows


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
