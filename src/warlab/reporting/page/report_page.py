"""The report: one HTML file that opens offline and holds everything, figures too."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined

from warlab.ids import RunId, base_method
from warlab.reporting.claims.verdicts import UNTESTED, difference_text, kind
from warlab.reporting.page import filters
from warlab.reporting.page.context import AuditSection, Context, Difference, FigureSection, TableSection
from warlab.reporting.page.headline import headlines
from warlab.reporting.page.opening import opening
from warlab.reporting.page.sections import SECTIONS
from warlab.reporting.read.results import CELL
from warlab.reporting.stats.comparison_text import NOT_COMPUTED
from warlab.reporting.tables import labels as names
from warlab.reporting.tables.grid import grid, legend, number, setting_name, signed, small_print
from warlab.reporting.tables.labels import Labels
from warlab.reporting.tables.render import Row

__all__ = ["AuditSection", "Context", "FigureSection", "TableSection", "render"]


def render(context: Context) -> str:
    """The whole page as text; it loads nothing from anywhere."""
    ids = {base_method(str(value)) for table in context.tables for kind in CELL for value in table.data[kind]}
    context = replace(context, fidelity=relevant(context.fidelity, ids))
    sources = {entry["dataset"]: entry.get("source", "") for entry in context.datasets}
    about = (context.labels, sources, context.epochs, context.evidence)
    found = headlines(context.tables[0].data, *about) if context.tables else []
    runs = [RunRow.of(result) for result in context.results]
    content = {
        "page": context,
        "opening": opening(context, found, sum(run.seconds for run in runs if not math.isnan(run.seconds))),
        "sections": sections(context),
        "headlines": found,
        "stand_ins": [entry for entry in context.datasets if entry.get("data") == "stand-in"],
        "runs": runs,
        "settled": [row for row in context.claims if row.verdict != UNTESTED],
        "untested": [row for row in context.claims if row.verdict == UNTESTED],
        "verdicts": Counter(kind(row.verdict) for row in context.claims),
        "tests": [row for row in context.statistics if row["statistic"] != NOT_COMPUTED],
        "lacking": [row for row in context.statistics if row["statistic"] == NOT_COMPUTED],
        "environments": environments(context.results),
    }
    return _environment(context.labels).get_template("report.html").render(content)


def sections(context: Context) -> dict[str, str]:
    """The sections that have something to show, in their order, with their titles."""
    content = {
        "results": context.tables or context.curves,
        "audit": context.audit,
        "claims": context.claims,
        "statistics": context.statistics or context.readings,
        "data": context.datasets or context.noise or context.costs,
        "fidelity": context.fidelity,
        "settings": context.reductions or context.hyperparameters,
        "provenance": context.results or context.left_out,
    }
    sorted_in = {table.section for table in context.tables} | {figure.section for figure in context.figures}
    titles = SECTIONS if context.has_papers_numbers else SECTIONS | {"results": "Results"}
    shown = {name for name, found in content.items() if found} | (sorted_in - {"audit"})
    return {name: title for name, title in titles.items() if name in shown}


def _environment(labels: Labels) -> Environment:
    environment = Environment(
        loader=PackageLoader("warlab", "reporting/page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(number=number, signed=signed)
    for name in ("short", "duration", "data_uri", "pixel_width", "pretty"):
        environment.filters[name] = getattr(filters, name)
    environment.filters.update(method=partial(filters.method, labels), methods=partial(filters.with_methods, labels))
    environment.globals.update(grid=grid, legend=legend, setting_name=setting_name, small_print=small_print)
    environment.globals.update(filled_columns=filled_columns, kind=kind, difference_text=difference_text)
    environment.globals["called"] = partial(names.name, labels)
    environment.tests["missing"] = pd.isna
    environment.policies["json.dumps_kwargs"] = {"default": vars, "ensure_ascii": False}  # of the filter tojson
    return environment


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

    @classmethod
    def of(cls, result: Mapping[str, Any]) -> "RunRow":
        run, provenance = result["run"], result.get("provenance", {})
        return cls(
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
