"""Rows of the report's tables from what runs and configuration keep."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]


def hyperparameter_rows(numbers: Mapping[str, Any]) -> list[dict[str, Any]]:
    """hyperparameters.yaml (section → name → key → value, source) as rows; a dataset in `for` has its own."""
    rows = []
    for section in ("training", "nets", "methods", "costs", "noise"):
        for owner, settings in numbers.get(section, {}).items():
            for key, entry in settings.items():
                base = {"section": section, "of": owner, "setting": key}
                rows.append(base | _value(entry))
                rows += [base | _value(entry | own, dataset) for dataset, own in entry.get("for", {}).items()]
    return rows


def _value(entry: Row, dataset: str = "") -> dict[str, Any]:
    return {
        "dataset": dataset,
        "value": entry["value"],
        "unit": entry.get("unit", ""),
        "source": entry["source"],
    }


def filled_columns(rows: Sequence[Row]) -> list[str]:
    """The columns in which any row has something."""
    return [
        key for key in dict.fromkeys(key for row in rows for key in row) if any(row.get(key, "") != "" for row in rows)
    ]


def relevant(fidelity: Iterable[Row], ids: set[str]) -> list[Row]:
    """The entries that concern something of this report; one without `needs` concerns everything."""
    return [entry for entry in fidelity if not entry.get("needs") or ids & set(entry["needs"])]


def run_row(result: Row) -> dict[str, Any]:
    """What the table of runs shows of a result.json; the rest is folded below its row."""
    run, provenance = result.get("run", {}), result.get("provenance", {})
    net, kind = run.get("net", ""), run.get("method", "")
    return {
        "dataset": run.get("dataset", ""),
        "noise": run.get("noise", ""),
        "net": net.get("name", "") if isinstance(net, Mapping) else net,
        "method": kind.get("id", "") if isinstance(kind, Mapping) else kind,
        "seed": run.get("seed", ""),
        "data": result.get("data", ""),
        "mean": result.get("summary", {}).get("last10_mean", math.nan),
        "seconds": provenance.get("seconds", math.nan),
        "memory": provenance.get("peak_memory_mb", math.nan),
        "all": result,
    }


def run_path(result: Row) -> str:
    row = run_row(result)
    return "/".join(str(row[kind]) for kind in ("dataset", "noise", "net", "method")) + f"/seed{row['seed']}"


def environments(results: Iterable[Row]) -> list[dict[str, Any]]:
    """The distinct machines and versions behind the runs, each with the number of its runs."""
    found: dict[str, dict[str, Any]] = {}
    for result in results:
        provenance = result.get("provenance", {})
        entry = {key: provenance[key] for key in ("git", "host", "processor", "threads") if key in provenance}
        entry |= provenance.get("versions", {})
        found.setdefault(json.dumps(entry, sort_keys=True), {"runs": 0, "entry": entry})["runs"] += 1
    return list(found.values())


def tail(log: Path, lines: int = 15) -> str:
    """The last lines of a log; nothing where there is none, such as for runs from elsewhere."""
    if not log.is_file():
        return ""
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])
