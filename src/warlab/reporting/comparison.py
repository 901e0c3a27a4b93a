"""The statistics of every experiment as one tidy table, and as a page for people."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from warlab.reporting import stats
from warlab.reporting.headline import PROPOSED
from warlab.reporting.labels import Labels, markdown, markdown_method, name
from warlab.reporting.results import CELL, complete, plain_text, read_csv, under_other_names

COLUMNS = (
    "experiment",
    "reading",
    "test",
    "subject",
    "against",
    "cells",
    "value",
    "low",
    "high",
    "p_value",
    "data",
    "note",
)
CHOSEN = tuple(reading for reading in stats.READINGS if not reading.endswith("diagnostic"))
Spec = Mapping[str, Any]  # experiment → cells (dataset, noise, net, method) and trained_as, as the workflow gives it


def statistics(per_run: pd.DataFrame, experiments: Mapping[str, Spec], published: pd.DataFrame) -> pd.DataFrame:
    """A row per experiment, reading and statistic; `subject` is a method, a setting or a cell.

    `per_run` are `stats.readings`, with the column `whole` from `with_whole` where runs may be missing: tests compare
    the methods seed by seed, but no mean is made of a cell that lacks a seed.
    """
    rows = [
        {"experiment": experiment, "reading": reading, **row}
        for experiment, spec in experiments.items()
        for shown in [_shown(per_run, spec)]
        for reading in CHOSEN
        if shown[reading].notna().any()
        for row in _rows(shown, spec, published, reading)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS)).fillna({"against": "", "note": "", "subject": ""})


def with_whole(per_run: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """The readings with a column that says whether all runs of their cell are there, which `runs` knows."""
    cells = complete(runs)[list(CELL)].drop_duplicates().assign(whole=True)
    found = per_run.merge(cells, on=list(CELL), how="left")
    return found.assign(whole=found["whole"].notna())


def _shown(per_run: pd.DataFrame, spec: Spec) -> pd.DataFrame:
    """The runs of the experiment's cells, under the names that its table has for them."""
    cells = pd.DataFrame(spec["cells"], columns=list(CELL))
    return under_other_names(per_run, spec["trained_as"]).merge(cells, on=list(CELL))


def _rows(shown: pd.DataFrame, spec: Spec, published: pd.DataFrame, reading: str) -> Iterator[dict[str, Any]]:
    methods = list(dict.fromkeys(cell[3] for cell in spec["cells"]))
    data = {"data": "stand-in" if "stand-in" in set(shown["data"]) else "real"}
    yield from (data | row for row in _test_rows(stats.compare(stats.blocks(shown, methods, reading))))
    whole = shown[shown["whole"]] if "whole" in shown else shown
    for key, group in whole.groupby(list(CELL[:3]), sort=False):
        yield data | _agreement_row(key, group, published, reading)
    for key, group in whole.groupby(list(CELL), sort=False):
        yield data | _interval_row(" ".join(map(str, key)), group[reading].to_numpy(float))


def _test_rows(found: stats.Comparison) -> Iterator[dict[str, Any]]:
    common = {"cells": found.cells, "note": found.note}
    yield {**common, "test": "friedman", "value": found.statistic, "p_value": found.p_value}
    if not np.isnan(found.critical_difference):
        yield {**common, "test": "critical_difference", "value": found.critical_difference}
    for method, rank in found.ranks.items():
        yield {**common, "test": "average_rank", "subject": method, "value": rank}
    for pair in found.pairs:
        both = {**common, "subject": pair.first, "against": pair.second, "value": pair.difference}
        yield {**both, "test": "wilcoxon_holm", "p_value": pair.wilcoxon_holm}
        yield {**both, "test": "nemenyi", "p_value": pair.nemenyi}


def _agreement_row(key: Any, group: pd.DataFrame, published: pd.DataFrame, reading: str) -> dict[str, Any]:
    ours = {str(method): float(mean) for method, mean in group.groupby("method", sort=False)[reading].mean().items()}
    found = stats.kendall(ours, _paper(published, *key))
    subject = " ".join(map(str, key))
    named = {"test": "kendall", "subject": subject, "against": "paper", "cells": found.methods}
    return {**named, "value": found.tau, "p_value": found.p_value, "note": found.note}


def _paper(published: pd.DataFrame, dataset: str, noise: str, net: str) -> dict[str, float]:
    setting = {"dataset": dataset, "noise": noise.replace("asym_code-", "asym-"), "net": net, "metric": "test_accuracy"}
    rows = published[(published[list(setting)] == pd.Series(setting)).all(axis=1)]
    first = rows.drop_duplicates("method")
    return dict(zip(first["method"].map(str), first["mean"].map(float), strict=True))


def _interval_row(subject: str, values: np.ndarray) -> dict[str, Any]:
    found = stats.bootstrap(values.tolist())
    named = {"test": "interval", "subject": subject, "cells": int((~np.isnan(values)).sum())}
    return {**named, "value": np.nanmean(values), "low": found.low, "high": found.high, "note": found.note}


def read_statistics(path: Path) -> pd.DataFrame:
    text = ("experiment", "reading", "test", "subject", "against", "data", "note")
    return plain_text(read_csv(path, COLUMNS, dtype=dict.fromkeys(text, "string")), text)


# ---- for people


def to_markdown(table: pd.DataFrame, titles: Mapping[str, str], labels: Labels) -> str:
    """One section per experiment and reading; what could not be computed says why."""
    parts = ["# Statistics", _EXPLANATION]
    for (experiment, reading), rows in table.groupby(["experiment", "reading"], sort=False):
        parts.append(f"## {markdown(titles.get(str(experiment), str(experiment)))}: {_READING[str(reading)]}")
        parts += sentences(rows, labels)
    return "\n\n".join(parts) + "\n"


_EXPLANATION = (
    "Cells are (dataset, noise, network, seed) in which every method has a run. Friedman's test asks whether the "
    "methods differ at all, Nemenyi's and Holm-corrected Wilcoxon tests which of them do; Kendall's τ compares our "
    "order of the methods with the paper's (1: the same, −1: the reverse). Best on test is a diagnostic in "
    "readings.csv and is tested nowhere."
)
_READING = {
    "last10_mean": "mean of the last ten epochs",
    "last": "last epoch",
    "best_by_noisy_validation": "epoch chosen on noisy validation labels",
}


def sentences(rows: pd.DataFrame, labels: Labels) -> list[str]:
    """The rows of one experiment and reading as paragraphs."""
    by_test = {str(test): part for test, part in rows.groupby("test", sort=False)}
    stand_in = ["†: computed on stand-in data; says nothing about the methods."] if _is_stand_in(rows) else []
    ranks = by_test.get("average_rank", rows.head(0)).sort_values("value")
    order = [f"{_method(labels, m)} {value:.2f}" for m, value in zip(ranks["subject"], ranks["value"], strict=True)]
    found = [_friedman(by_test["friedman"].iloc[0], by_test.get("critical_difference"))]
    found += [f"Average ranks: {', '.join(order)}."] if order else []
    found += _pairs(by_test.get("wilcoxon_holm"), labels)
    found += [_agreement(row, labels) for row in by_test["kendall"].to_dict("records")]
    return stand_in + found


def _is_stand_in(rows: pd.DataFrame) -> bool:
    return "stand-in" in set(rows["data"])


def _friedman(row: pd.Series, difference: pd.DataFrame | None) -> str:
    if row["note"]:
        return f"No test: {row['note']}."
    critical = "" if difference is None else f"; critical difference of average ranks {difference['value'].iloc[0]:.2f}"
    return f"Friedman: χ² = {row['value']:.2f}, p = {p_text(row['p_value'])} over {row['cells']} cells{critical}."


def _pairs(rows: pd.DataFrame | None, labels: Labels) -> list[str]:
    if rows is None:
        return []
    lines = [
        f"| {_method(labels, row['subject'])} | {_method(labels, row['against'])} | {row['value']:+.2f} | "
        f"{p_text(row['p_value'])} |"
        for row in rows.to_dict("records")
    ]
    return ["\n".join(["| first | second | difference | p (Wilcoxon, Holm) |", "| --- | --- | --- | --- |", *lines])]


def _agreement(row: Mapping[Any, Any], labels: Labels) -> str:
    dataset, noise, net = str(row["subject"]).split(" ")
    where = f"{name(labels, 'dataset', dataset)}, {name(labels, 'noise', noise)}, {net}"
    if row["note"]:
        return f"{markdown(where)}: no comparison with the paper's order, {row['note']}."
    tau, p = f"{row['value']:+.2f}".replace("-", "−"), p_text(row["p_value"])
    return f"{markdown(where)}: Kendall's τ = {tau} with the paper's order (p = {p}, {row['cells']} methods)."


def _method(labels: Labels, identifier: str) -> str:
    return markdown_method(name(labels, "method", identifier))


def p_text(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def for_page(table: pd.DataFrame, labels: Labels) -> list[dict[str, Any]]:
    """The rows that a reader looks for, with printed names: no intervals, pairs with the paper's method only."""
    kept = table[table["test"].isin(["friedman", "critical_difference", "average_rank", "kendall", "wilcoxon_holm"])]
    pairs = kept["test"] == "wilcoxon_holm"
    proposed = (kept["subject"] == PROPOSED) | (kept["against"] == PROPOSED)
    return [
        {
            "experiment": row["experiment"].replace("_", " "),
            "reading": _READING[row["reading"]],
            "statistic": row["test"].replace("_", " "),
            "of": _named(row["subject"], labels),
            "against": _named(row["against"], labels),
            "cells or methods": row["cells"],
            "value": row["value"],
            "p": p_text(row["p_value"]) if not np.isnan(row["p_value"]) else "",
            "note": row["note"] + (" (stand-in data)" if row["data"] == "stand-in" else ""),
        }
        for row in kept[~pairs | proposed].to_dict("records")
    ]


def _named(subject: str, labels: Labels) -> str:
    """A method, or a setting of three words."""
    words = subject.split(" ")
    if len(words) != 3:
        return name(labels, "method", subject) if subject else ""
    return ", ".join(name(labels, kind, word) for kind, word in zip(CELL, words, strict=False))
