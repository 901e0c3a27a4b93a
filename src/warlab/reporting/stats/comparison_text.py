"""The statistics for people: statistics.md and the section of the report. What could not be computed is said once."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from warlab.reporting.page.headline import PROPOSED
from warlab.reporting.read.results import CELL
from warlab.reporting.tables.grid import signed
from warlab.reporting.tables.labels import Labels, markdown, markdown_method, name

NOT_COMPUTED = "not computed"
READING = {
    "last10_mean": "mean of the last ten epochs",
    "last": "last epoch",
    "best_by_noisy_validation": "epoch chosen on noisy validation labels",
}
TESTS = {  # of two methods: the test, and what it counts
    "paired_t": ("paired t over seeds", "seeds"),
    "wilcoxon_seeds": ("Wilcoxon over seeds", "seeds"),
    "bootstrap_images": ("paired bootstrap over test images", "images"),
    "mcnemar": ("McNemar, first seed", "images"),
    "mean_over_settings": ("mean over settings", "settings"),
    "wilcoxon_holm": ("Wilcoxon over settings", "settings"),
}
OTHERS = {
    "friedman": ("Friedman over settings", "settings"),
    "friedman_seeds": ("Friedman over seeds", "seeds"),
    "critical_difference": ("critical difference of ranks", "settings"),
    "average_rank": ("average rank", "settings"),
    "kendall": ("Kendall's τ with the paper", "methods"),
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
    computed = table[(table["note"] == "") | (table["test"] == "friedman")]
    for (experiment, reading), rows in computed.groupby(["experiment", "reading"], sort=False):
        if found := sentences(rows, labels):
            parts.append(f"## {markdown(titles.get(str(experiment), str(experiment)))}: {READING[str(reading)]}")
            parts += found
    missing = [
        f"- {markdown(note)}: {markdown(', '.join(titles.get(one, one) for one in where))}."
        for note, where in notes(table)
    ]
    return "\n\n".join([*parts, *(["## Not computed", "\n".join(missing)] if missing else [])]) + "\n"


def notes(table: pd.DataFrame) -> list[tuple[str, list[str]]]:
    """What could not be computed and why, each once, with the experiments that it concerns."""
    found: dict[str, dict[str, None]] = {}
    for row in table[table["note"] != ""].to_dict("records"):
        note = str(row["note"]) if row["test"] != "kendall" else f"the paper's order, {row['note']}"
        found.setdefault(note, {})[str(row["experiment"])] = None
    return [(note, list(where)) for note, where in found.items()]


def sentences(rows: pd.DataFrame, labels: Labels) -> list[str]:
    """The rows of one experiment and reading as paragraphs."""
    by_test = {str(test): part for test, part in rows.groupby("test", sort=False)}
    stand_in = ["†: computed on stand-in data; says nothing about the methods."] if _is_stand_in(rows) else []
    found = _ranks(by_test, labels)
    over = [part for test, part in by_test.items() if test in ("mean_over_settings", "wilcoxon_holm")]
    found += [_pairs(pd.concat(over), labels)] if over else []
    for setting, part in rows[rows["setting"] != ""].groupby("setting", sort=False):
        found += _in_setting(str(setting), part, labels)
    found += [_agreement(row, labels) for row in by_test.get("kendall", rows.head(0)).to_dict("records")]
    return stand_in + found if found else []


def _ranks(by_test: Mapping[str, pd.DataFrame], labels: Labels) -> list[str]:
    if "friedman" not in by_test:
        return []
    row, found = by_test["friedman"].iloc[0], []
    if not row["note"]:
        critical = by_test["critical_difference"]["value"].iloc[0]
        found.append(
            f"Friedman: χ² = {row['value']:.2f}, p = {p_text(row['p_value'])} over {int(row['cells'])} settings; "
            f"critical difference of average ranks {critical:.2f}."
        )
    ranks = by_test.get("average_rank", by_test["friedman"].head(0)).sort_values("value")
    order = [f"{_method(labels, m)} {value:.2f}" for m, value in zip(ranks["subject"], ranks["value"], strict=True)]
    return [*found, *([f"Average ranks: {', '.join(order)}."] if order else [])]


def _in_setting(setting: str, rows: pd.DataFrame, labels: Labels) -> list[str]:
    where = markdown(_place(setting, labels))
    found = [
        f"{where}, all methods: Friedman over {int(row['cells'])} seeds, χ² = {row['value']:.2f}, "
        f"p = {p_text(row['p_value'])}."
        for row in rows[rows["test"] == "friedman_seeds"].to_dict("records")
    ]
    two = rows[rows["test"].isin(list(TESTS))]
    return [*found, *([f"{where}:\n\n{_pairs(two, labels)}"] if len(two) else [])]


def _pairs(rows: pd.DataFrame, labels: Labels) -> str:
    lines = [
        f"| {_method(labels, row['subject'])} | {_method(labels, row['against'])} | {TESTS[row['test']][0]} | "
        f"{int(row['cells'])} {TESTS[row['test']][1]} | {signed(row['value'])} | {_interval(row)} | {_p(row)} |"
        for row in rows.to_dict("records")
    ]
    head = "| first | second | test | over | difference | 95 % | p (Holm) |"
    return "\n".join([head, "| --- | --- | --- | --- | ---: | --- | ---: |", *lines])


def _agreement(row: Mapping[Any, Any], labels: Labels) -> str:
    tau, interval = f"{row['value']:+.2f}".replace("-", "−"), _interval(row)
    span = f", 95 %: {interval}" if interval else ""
    return (
        f"{markdown(_place(row['subject'], labels))}: Kendall's τ = {tau} with the paper's order "
        f"(p = {p_text(row['p_value'])}, {int(row['cells'])} methods{span})."
    )


def _interval(row: Mapping[Any, Any]) -> str:
    return "" if np.isnan(row["low"]) else f"{signed(row['low'])} to {signed(row['high'])}"


def _p(row: Mapping[Any, Any]) -> str:
    return "" if np.isnan(row["p_value"]) else p_text(row["p_value"])


def p_text(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _is_stand_in(rows: pd.DataFrame) -> bool:
    return "stand-in" in set(rows["data"])


def _method(labels: Labels, identifier: str) -> str:
    return markdown_method(name(labels, "method", identifier))


def _place(setting: str, labels: Labels) -> str:
    return ", ".join(name(labels, kind, word) for kind, word in zip(CELL, setting.split(" "), strict=False))


def for_page(table: pd.DataFrame, labels: Labels) -> list[dict[str, Any]]:
    """The rows that a reader looks for, with printed names: of the paper's reading, pairs with the paper's method only;
    below them what could not be computed."""
    known = TESTS | OTHERS
    kept = table[table["test"].isin(list(known)) & (table["note"] == "")]
    kept = kept[(kept["reading"] == "last10_mean") | (kept["test"] == "mcnemar")]
    pairs = kept["test"].isin(list(TESTS))
    proposed = (kept["subject"] == PROPOSED) | (kept["against"] == PROPOSED)
    found = [
        {
            "experiment": _titled(row["experiment"], labels),
            "statistic": known[row["test"]][0],
            "setting": _place(row["setting"], labels) if row["setting"] else "",
            "of": _named(row["subject"], labels),
            "against": _named(row["against"], labels),
            "over": f"{int(row['cells'])} {known[row['test']][1]}",
            "value": row["value"],
            "95 %": _interval(row),
            "p": _p(row),
            "note": "stand-in data" if row["data"] == "stand-in" else "",
        }
        for row in kept[~pairs | proposed].to_dict("records")
    ]
    empty = dict.fromkeys(found[0], "") if found else {}
    return found + [
        {
            **empty,
            "experiment": ", ".join(_titled(one, labels) for one in where),
            "statistic": NOT_COMPUTED,
            "note": note,
        }
        for note, where in notes(table)
    ]


def _titled(experiment: str, labels: Labels) -> str:
    return name(labels, "experiment", experiment).replace("_", " ")


def _named(subject: str, labels: Labels) -> str:
    """A method, or a setting of three words."""
    if len(subject.split(" ")) == 3:
        return _place(subject, labels)
    return name(labels, "method", subject) if subject else ""


def readings_for_page(per_run: pd.DataFrame, labels: Labels) -> list[dict[str, Any]]:
    """A row per cell with its readings side by side, means over seeds; the last one chooses by the test labels."""
    columns = {
        "last10_mean": "last ten epochs",
        "last": "last epoch",
        "best_by_noisy_validation": "chosen by noisy validation",
        "best_on_test_diagnostic": "best on test (diagnostic)",
    }
    cells = per_run.groupby([*CELL, "metric"], sort=False)
    means = cells[list(columns)].mean().assign(seeds=cells["seed"].nunique(), data=cells["data"].max()).reset_index()
    return [
        {
            **{kind: name(labels, kind, row[kind]) for kind in (*CELL, "metric")},
            "seeds": row["seeds"],
            **{title: "" if np.isnan(row[key]) else row[key] for key, title in columns.items()},
            "data": "stand-in" if row["data"] == "stand-in" else "",
        }
        for row in means.to_dict("records")
    ]
