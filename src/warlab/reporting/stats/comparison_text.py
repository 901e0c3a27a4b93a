"""Statistics as text: statistics.md and the section of the report."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd

from warlab.common.wording import several
from warlab.reporting.formats import Row, markdown_table, render, signed
from warlab.reporting.names import PROPOSED, Labels, display_name, escape_markdown, markdown_method
from warlab.reporting.read.csv_rows import rows_of
from warlab.reporting.read.results import CELL, Scenario, kind_of_data
from warlab.reporting.stats.over_settings import Statistic

ASSETS = ("reporting/templates/statistics.md",)
NOT_COMPUTED = "not computed"
READING = {
    "last10_mean": "mean of the last ten epochs",
    "last": "last epoch",
    "best_by_noisy_validation": "epoch chosen on noisy validation labels",
}
TESTS = {  # of two methods: the name of the test, and what it counts
    "paired_t": ("paired t over seeds", "seed"),
    "wilcoxon_seeds": ("Wilcoxon over seeds", "seed"),
    "bootstrap_images": ("paired bootstrap over test images", "image"),
    "mcnemar": ("McNemar, first seed", "image"),
    "mean_over_settings": ("mean over settings", "setting"),
    "wilcoxon_holm": ("Wilcoxon over settings", "setting"),
}
OTHERS = {
    "friedman": ("Friedman over settings", "setting"),
    "friedman_seeds": ("Friedman over seeds", "seed"),
    "critical_difference": ("critical difference of ranks", "setting"),
    "average_rank": ("average rank", "setting"),
    "kendall": ("Kendall's τ with the paper", "method"),
}
PRINTED = ("friedman", "critical_difference", "average_rank", "friedman_seeds", "kendall", *TESTS)  # in statistics.md


def to_markdown(table: pd.DataFrame, titles: Mapping[str, str], labels: Labels) -> str:
    """One section per experiment and reading, and at the end what could not be computed."""
    printed = table[(table["note"] == "") & table["test"].isin(PRINTED)]
    return render(
        "statistics.md",
        sections=[
            (titles.get(experiment, experiment), READING[reading], rows_of(rows, Statistic))
            for key, rows in printed.groupby(["experiment", "reading"], sort=False)
            for experiment, reading in [map(str, key)]
        ],
        missing=[(note, ", ".join(titles.get(one, one) for one in where)) for note, where in notes(table)],
        method=partial(markdown_method, labels),
        where=lambda setting: escape_markdown(Scenario.parse(setting).display_name(labels)),
        pairs=partial(_pairs, labels=labels),
        tests=TESTS,
        interval=_interval,
        p=_p,
        several=several,
        signed=signed,
    )


def notes(table: pd.DataFrame) -> list[tuple[str, list[str]]]:
    """Every reason why something could not be computed, with the experiments that it concerns."""
    found: dict[str, dict[str, None]] = {}
    for row in rows_of(table[table["note"] != ""], Statistic):
        note = row.note if row.test != "kendall" else f"the paper's order, {row.note}"
        found.setdefault(note, {})[row.experiment] = None
    return [(note, list(where)) for note, where in found.items()]


def _pairs(rows: Sequence[Statistic], labels: Labels) -> str:
    head = ("first", "second", "test", "over", "difference", "95 %", "p (Holm)")
    body = [
        (
            markdown_method(labels, row.subject),
            markdown_method(labels, row.against),
            TESTS[row.test][0],
            several(row.cells, TESTS[row.test][1]),
            signed(row.value),
            _interval(row),
            _p(row),
        )
        for row in rows
    ]
    return markdown_table(head, body, right=("difference", "p (Holm)"))


def _interval(row: Statistic) -> str:
    return "" if np.isnan(row.low) else f"{signed(row.low)} to {signed(row.high)}"


def _p(row: Statistic) -> str:
    if np.isnan(row.p_value):
        return ""
    return "< 0.001" if row.p_value < 0.001 else f"{row.p_value:.3f}"


def for_page(table: pd.DataFrame, labels: Labels) -> list[Row]:
    """The rows of most interest, with printed names: those of the paper's reading, pairs only with the paper's method;
    then what could not be computed."""
    known = TESTS | OTHERS
    kept = [row for row in rows_of(table, Statistic) if row.test in known and not row.note]
    kept = [row for row in kept if row.reading == "last10_mean" or row.test == "mcnemar"]
    found: list[Row] = [
        {
            "experiment": _titled(row.experiment, labels),
            "statistic": known[row.test][0],
            "setting": Scenario.parse(row.setting).display_name(labels) if row.setting else "",
            "of": Scenario.parse(row.subject).display_name(labels)
            if row.test == "kendall"
            else _method(row.subject, labels),
            "against": _method(row.against, labels),
            "over": several(row.cells, known[row.test][1]),
            "value": row.value,
            "95 %": _interval(row),
            "p": _p(row),
            "note": "stand-in data" if row.data == "stand-in" else "",
        }
        for row in kept
        if row.test not in TESTS or PROPOSED in (row.subject, row.against)
    ]
    empty = dict.fromkeys(found[0], "") if found else {}
    for note, where in notes(table):
        concerned = ", ".join(_titled(one, labels) for one in where)
        found.append({**empty, "experiment": concerned, "statistic": NOT_COMPUTED, "note": note})
    return found


def _titled(experiment: str, labels: Labels) -> str:
    return display_name(labels, "experiment", experiment).replace("_", " ")


def _method(subject: str, labels: Labels) -> str:
    return display_name(labels, "method", subject) if subject else ""


def readings_for_page(per_run: pd.DataFrame, labels: Labels) -> list[Row]:
    """A row per cell with the means of its readings over the seeds; the last reading chooses by the test labels."""
    columns = {
        "last10_mean": "last ten epochs",
        "last": "last epoch",
        "best_by_noisy_validation": "chosen by noisy validation",
        "best_on_test_diagnostic": "best on test (diagnostic)",
    }
    return [
        {
            **{
                kind: display_name(labels, kind, str(value)) for kind, value in zip((*CELL, "metric"), key, strict=True)
            },
            "seeds": cell["seed"].nunique(),
            **{title: "" if np.isnan(mean := cell[key].mean()) else mean for key, title in columns.items()},
            "data": "stand-in" if kind_of_data(cell["data"]) == "stand-in" else "",
        }
        for key, cell in per_run.groupby([*CELL, "metric"], sort=False)
    ]
