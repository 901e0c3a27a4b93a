"""The statistics for people: statistics.md and the section of the report. What could not be computed is said once."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from warlab.common.wording import several
from warlab.reporting.page import PROPOSED
from warlab.reporting.read.results import CELL
from warlab.reporting.setting import Setting, kind_of_data
from warlab.reporting.stats.statistic import Statistic, rows_of
from warlab.reporting.tables.grid import signed
from warlab.reporting.tables.labels import Labels, markdown, markdown_method, markdown_table, name
from warlab.reporting.tables.listing import Row

NOT_COMPUTED = "not computed"
READING = {
    "last10_mean": "mean of the last ten epochs",
    "last": "last epoch",
    "best_by_noisy_validation": "epoch chosen on noisy validation labels",
}
TESTS = {  # of two methods: the test, and what it counts
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
_EXPLANATION = (
    "Ranks, Friedman's, Nemenyi's and Wilcoxon's tests over settings take a setting (dataset, noise, network) as one "
    "block, averaged over its seeds. In one setting two methods are compared over the seeds that both have (paired t, "
    "Wilcoxon) and over the test images (McNemar's exact test on the last epoch of the first seed; a paired bootstrap "
    "of the mean over the last ten epochs and all seeds, which leaves out the spread between trainings). p-values of "
    "one kind in one setting are corrected by Holm. Intervals are 95 %; a mean over settings is resampled in each "
    "setting by itself. Kendall's τ compares our order of the methods with the paper's (1: the same, −1: the reverse). "
    "Best on test is a diagnostic in readings.csv and is tested nowhere."
)


def to_markdown(table: pd.DataFrame, titles: Mapping[str, str], labels: Labels) -> str:
    """One section per experiment and reading, and at the end what could not be computed."""
    parts = ["# Statistics", _EXPLANATION]
    told = table[(table["note"] == "") | (table["test"] == "friedman")]
    for key, rows in told.groupby(["experiment", "reading"], sort=False):
        experiment, reading = map(str, key)
        if found := _sentences(rows_of(rows), labels):
            parts += [f"## {markdown(titles.get(experiment, experiment))}: {READING[reading]}", *found]
    missing = [
        f"- {markdown(note)}: {markdown(', '.join(titles.get(one, one) for one in where))}."
        for note, where in notes(table)
    ]
    return "\n\n".join([*parts, *(["## Not computed", "\n".join(missing)] if missing else [])]) + "\n"


def notes(table: pd.DataFrame) -> list[tuple[str, list[str]]]:
    """What could not be computed and why, each once, with the experiments that it concerns."""
    found: dict[str, dict[str, None]] = {}
    for row in rows_of(table[table["note"] != ""]):
        note = row.note if row.test != "kendall" else f"the paper's order, {row.note}"
        found.setdefault(note, {})[row.experiment] = None
    return [(note, list(where)) for note, where in found.items()]


def _sentences(rows: Sequence[Statistic], labels: Labels) -> list[str]:
    """The rows of one experiment and reading as paragraphs."""
    found = _ranks(rows, labels)
    over = [row for row in rows if row.test in ("mean_over_settings", "wilcoxon_holm")]
    found += [_pairs(over, labels)] if over else []
    for setting in dict.fromkeys(row.setting for row in rows if row.setting):
        found += _in_setting([row for row in rows if row.setting == setting], labels)
    found += [_agreement(row, labels) for row in rows if row.test == "kendall"]
    stand_in = any(row.data == "stand-in" for row in rows)
    mark = ["†: computed on stand-in data; says nothing about the methods."] if stand_in else []
    return mark + found if found else []


def _ranks(rows: Sequence[Statistic], labels: Labels) -> list[str]:
    critical = {row.test: row.value for row in rows}.get("critical_difference")
    found = [
        f"Friedman: χ² = {row.value:.2f}, p = {_p(row)} over {several(row.cells, 'setting')}; "
        f"critical difference of average ranks {critical:.2f}."
        for row in rows
        if row.test == "friedman" and not row.note
    ]
    ranked = sorted((row for row in rows if row.test == "average_rank"), key=lambda row: row.value)
    order = ", ".join(f"{markdown_method(labels, row.subject)} {row.value:.2f}" for row in ranked)
    return [*found, *([f"Average ranks over {several(ranked[0].cells, 'setting')}: {order}."] if order else [])]


def _in_setting(rows: Sequence[Statistic], labels: Labels) -> list[str]:
    where = markdown(Setting.parse(rows[0].setting).called(labels))
    found = [
        f"{where}, all methods: Friedman over {several(row.cells, 'seed')}, χ² = {row.value:.2f}, p = {_p(row)}."
        for row in rows
        if row.test == "friedman_seeds"
    ]
    two = [row for row in rows if row.test in TESTS]
    return [*found, *([f"{where}:\n\n{_pairs(two, labels)}"] if two else [])]


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


def _agreement(row: Statistic, labels: Labels) -> str:
    interval = _interval(row)
    span = f", 95 %: {interval}" if interval else ""
    return (
        f"{markdown(Setting.parse(row.subject).called(labels))}: Kendall's τ = {signed(row.value)} with the paper's "
        f"order (p = {_p(row)}, {several(row.cells, 'method')}{span})."
    )


def _interval(row: Statistic) -> str:
    return "" if np.isnan(row.low) else f"{signed(row.low)} to {signed(row.high)}"


def _p(row: Statistic) -> str:
    if np.isnan(row.p_value):
        return ""
    return "< 0.001" if row.p_value < 0.001 else f"{row.p_value:.3f}"


def for_page(table: pd.DataFrame, labels: Labels) -> list[Row]:
    """The rows that a reader looks for, with printed names: of the paper's reading, pairs with the paper's method only;
    below them what could not be computed."""
    known = TESTS | OTHERS
    kept = [row for row in rows_of(table) if row.test in known and not row.note]
    kept = [row for row in kept if row.reading == "last10_mean" or row.test == "mcnemar"]
    found: list[Row] = [
        {
            "experiment": _titled(row.experiment, labels),
            "statistic": known[row.test][0],
            "setting": Setting.parse(row.setting).called(labels) if row.setting else "",
            "of": Setting.parse(row.subject).called(labels) if row.test == "kendall" else _method(row.subject, labels),
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
    return name(labels, "experiment", experiment).replace("_", " ")


def _method(subject: str, labels: Labels) -> str:
    return name(labels, "method", subject) if subject else ""


def readings_for_page(per_run: pd.DataFrame, labels: Labels) -> list[Row]:
    """A row per cell with its readings side by side, means over seeds; the last one chooses by the test labels."""
    columns = {
        "last10_mean": "last ten epochs",
        "last": "last epoch",
        "best_by_noisy_validation": "chosen by noisy validation",
        "best_on_test_diagnostic": "best on test (diagnostic)",
    }
    return [
        {
            **{kind: name(labels, kind, str(value)) for kind, value in zip((*CELL, "metric"), key, strict=True)},
            "seeds": cell["seed"].nunique(),
            **{title: "" if np.isnan(mean := cell[key].mean()) else mean for key, title in columns.items()},
            "data": "stand-in" if kind_of_data(cell["data"]) == "stand-in" else "",
        }
        for key, cell in per_run.groupby([*CELL, "metric"], sort=False)
    ]
