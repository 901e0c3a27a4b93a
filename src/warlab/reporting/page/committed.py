"""Committed evidence on the page: results that this run did not compute, in separate tables that say so.

They are not used in the tables, figures, statistics or claims of the run.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from warlab.errors import WarlabError
from warlab.ids import base_method
from warlab.reporting.formats import number, signed
from warlab.reporting.names import BASELINE, PROPOSED, Labels, display_name
from warlab.reporting.page.context import Committed
from warlab.reporting.page.opening import count
from warlab.reporting.read.results import CELL, read_runs, readings

Cells = Mapping[str, str]
Source = Mapping[str, str]  # a `folder` of docs/evidence, the `command` that made it, and its `path`
SEEDED = ("seeds", "interval", "interval_from")


def read_committed(
    named: Mapping[str, Source], labels: Labels, reductions: Sequence[Cells], run_here: Collection[str]
) -> list[Committed]:
    """Read what the scale names under `evidence`; a part with nothing to show is left out."""
    tables = [
        same_settings(named["same"], labels, reductions, run_here) if "same" in named else None,
        other_methods(named["others"], labels, run_here) if "others" in named else None,
    ]
    return [table for table in tables if table]


def same_settings(
    source: Source, labels: Labels, reductions: Sequence[Cells], run_here: Collection[str]
) -> Committed | None:
    """Return the settings of this run with more seeds, or None if the settings of this run have changed since."""
    summary = _summary(source)
    titles = {display_name(labels, "dataset", dataset) for dataset in summary["dataset"]}
    shared = {display_name(labels, "method", base_method(method)) for method in set(run_here) & set(summary["method"])}
    others = set(labels.get("method", {}).values()) - shared
    now, then = (_settings(rows, titles, others) for rows in (reductions, _kept_reductions(source)))
    if not set(SEEDED) <= set(summary) or now != then:
        return None
    per_seed = readings(read_runs(Path(source["path"]) / "runs.csv")).pivot_table("last10_mean", "seed", list(CELL))
    rows = [
        _setting(row, labels, len(titles))
        | {f"seed {seed}": _or_dash(value, number) for seed, value in per_seed[_cell(row)].items()}
        | {"mean": number(row["ours"]), **_above(row), "95 % interval": _or_dash(row["interval"], _minus)}
        for _, row in summary.iterrows()
    ]
    return Committed(
        f"The same settings with {count(int(summary['seeds'].max()))} seeds (committed, not computed in this run)",
        "Mean of the last ten epochs in %, the highest first, and its difference from CCE; intervals over the seeds by "
        f"Student's t. {_origin(source)}",
        rows,
        _sentence(summary, per_seed, labels, source),
    )


def other_methods(source: Source, labels: Labels, run_here: Collection[str]) -> Committed | None:
    """Return the methods that this run leaves out, from a study of another size, with the CCE of that study."""
    summary = _summary(source)
    here = {base_method(method) for method in run_here} - {BASELINE}
    left = summary[[base_method(method) not in here for method in summary["method"]]]
    if set(left["method"]) <= {BASELINE}:
        return None
    settings = len(left.groupby(list(CELL[:3])))
    rows = [
        _setting(row, labels, settings)
        | {"mean": number(row["ours"]), **_above(row), "paper": _or_dash(row["published"], number)}
        | {"paper's difference": _or_dash(row["published_above_cce"], signed)}
        for _, row in left.iterrows()
    ]
    return Committed(
        "Methods that were not run here (committed, from a study of another size)",
        "Mean of the last ten epochs in %, the highest first. These numbers cannot be compared with those of this run; "
        f"the column “difference” compares them with the CCE of the same study. {_origin(source)}",
        rows,
    )


def _summary(source: Source) -> pd.DataFrame:
    try:
        return pd.read_csv(Path(source["path"]) / "summary.csv")
    except OSError as error:
        raise WarlabError(
            f"{source['folder']} has no summary.csv that can be read ({error.strerror}); make it by "
            "tools/make_evidence.py, or leave the folder out of `evidence` in the scale."
        ) from error


def _setting(row: pd.Series, labels: Labels, settings: int) -> dict[str, str]:
    """Return the names of a row's setting and method; the setting only if the table has several."""
    where = {kind: display_name(labels, kind, row[kind]) for kind in ("dataset", "noise")} if settings > 1 else {}
    return {**where, "method": display_name(labels, "method", row["method"])}


def _above(row: pd.Series) -> dict[str, str]:
    return {"difference": "–" if row["method"] == BASELINE else signed(row["above_cce"])}


def _sentence(summary: pd.DataFrame, per_seed: pd.DataFrame, labels: Labels, source: Source) -> str:
    """Say how far WAR is above CCE, with the interval, and in how many seeds."""
    proposed = summary[(summary["method"] == PROPOSED) & summary["interval"].notna()]
    if proposed.empty:
        return ""
    row = proposed.iloc[0]
    ours, other = (display_name(labels, "method", method) for method in (PROPOSED, BASELINE))
    higher = per_seed[_cell(row)] > per_seed[*_cell(row)[:-1], BASELINE]
    return (
        f"{ours} − {other} = {signed(row['above_cce'], 1)} points (95\N{NO-BREAK SPACE}%: {_minus(row['interval'])}; "
        f"{row['interval_from']}), higher in {higher.sum()} of {len(higher)} seeds; from {source['folder']}."
    )


def _cell(row: pd.Series) -> tuple[str, ...]:
    return tuple(str(row[key]) for key in CELL)


def _origin(source: Source) -> str:
    return f"From {source['folder']}, made by “{source['command']}”."


def _settings(rows: Sequence[Cells], titles: Collection[str], others: Collection[str]) -> set[tuple[str, ...]]:
    """Return the values that differ from the paper's, for these datasets and without some methods."""
    owners = {tuple(row.values()): row["what"].partition(": ")[0].partition(", ") for row in rows}
    return {row for row, (title, _, owner) in owners.items() if title in titles and owner not in others}


def _kept_reductions(source: Source) -> list[dict[str, str]]:
    """Read the table that tools/make_evidence.py wrote."""
    file = Path(source["path"]) / "reductions.md"
    lines = file.read_text().splitlines()[2:] if file.is_file() else []
    cells = [line.strip("| ").split(" | ") for line in lines]
    return [dict(zip(("what", "paper", "here"), row, strict=True)) for row in cells]


def _minus(text: str) -> str:
    return text.replace("-", "−")


def _or_dash(value: Any, shown: Callable[[Any], str]) -> str:
    return "–" if pd.isna(value) else shown(value)
