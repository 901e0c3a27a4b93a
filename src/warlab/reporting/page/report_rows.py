"""Rows of the report's tables from what runs and configuration keep."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from warlab.ids import RunId
from warlab.reporting.page.context import Difference
from warlab.reporting.tables.listing import Row


def filled_columns(rows: Sequence[Row]) -> list[str]:
    """The columns in which any row has something."""
    return [
        key for key in dict.fromkeys(key for row in rows for key in row) if any(row.get(key, "") != "" for row in rows)
    ]


def relevant(fidelity: Iterable[Difference], ids: set[str]) -> list[Difference]:
    """The entries that concern something of this report; one without `needs` concerns everything."""
    return [entry for entry in fidelity if not entry.get("needs") or ids & set(entry["needs"])]


class RunRow(NamedTuple):
    """What the table of runs shows of a result.json; all of it is folded below its row."""

    run: RunId
    data: str
    mean: float
    seconds: float
    memory: float
    all: Mapping[str, Any]


def run_row(result: Mapping[str, Any]) -> RunRow:
    run, provenance = result["run"], result.get("provenance", {})
    return RunRow(
        RunId(run["dataset"], run["noise"], run["net"]["name"], run["method"]["id"], run["seed"]),
        result.get("data", ""),
        result.get("summary", {}).get("last10_mean", math.nan),
        provenance.get("seconds", math.nan),
        provenance.get("peak_memory_mb", math.nan),
        result,
    )


def environments(results: Iterable[Mapping[str, Any]]) -> list[tuple[int, Row]]:
    """The distinct machines and versions behind the runs, each after the number of its runs."""
    entries = []
    for result in results:
        provenance = result.get("provenance", {})
        entry = {key: provenance[key] for key in ("git", "host", "processor", "threads") if key in provenance}
        entries.append(json.dumps(entry | provenance.get("versions", {})))
    return [(count, json.loads(text)) for text, count in Counter(entries).items()]


def tail(log: Path, lines: int = 15) -> str:
    """The last lines of a log; nothing where there is none, such as for runs from elsewhere."""
    if not log.is_file():
        return ""
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])
