"""The report: one HTML file that contains everything, also the figures, and works offline."""

import base64
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from warlab.artefacts.run_result import RunResult
from warlab.common.progress import duration
from warlab.common.wording import several
from warlab.ids import base_method
from warlab.reporting import names
from warlab.reporting.claims.verdicts import difference_text, is_partial, kind
from warlab.reporting.formats import Row, number, signed
from warlab.reporting.names import Labels
from warlab.reporting.page import SECTIONS
from warlab.reporting.page.context import Context
from warlab.reporting.page.opening import make_headlines, make_opening
from warlab.reporting.read.artefacts import held_out
from warlab.reporting.read.results import CELL
from warlab.reporting.stats import MIN_SEEDS
from warlab.reporting.style import leading_variant
from warlab.reporting.tables.grid import grid, legend, setting_name


def render(context: Context) -> str:
    """Return the whole page as text; it loads nothing."""
    ids = {base_method(str(value)) for table in context.tables for kind in CELL for value in table.data[kind]}
    context = replace(context, fidelity=select_relevant(context.fidelity, ids))
    if not (context.has_papers_numbers or leading_variant(ids)):  # neither WAR nor data of the paper
        context = replace(context, claims=(), fidelity=(), reductions=())
    if not context.has_papers_numbers:
        context = replace(context, not_computed=[one for one in context.not_computed if "paper's order" not in one])
    first = make_headlines(context)
    content = {
        "page": context,
        "opening": make_opening(context, first),
        "sections": list_sections(context),
        "headlines": first,
        "held_out": held_out(context.datasets),
        "seconds": sum(result.provenance["seconds"] for result in context.results),
        "verdicts": Counter(kind(row.verdict) for row in context.claims),
        "environments": count_environments(context.results),
    }
    return make_environment(context.labels).get_template("report.html").render(content)


def list_sections(context: Context) -> dict[str, str]:
    """Return the sections that have something to show, in their order, with their titles."""
    content = {
        "results": context.tables or context.curves,
        "audit": context.audit,
        "claims": context.claims,
        "statistics": context.statistics or context.not_computed or context.readings,
        "data": context.datasets or context.noise or context.costs,
        "fidelity": context.fidelity,
        "settings": context.reductions or context.hyperparameters,
        "provenance": context.results or context.left_out,
    }
    filled = {name for name, value in content.items() if value}
    filled |= ({table.section for table in context.tables} | {figure.section for figure in context.figures}) - {"audit"}
    titles = SECTIONS if context.has_papers_numbers else SECTIONS | {"results": "Results"}
    return {name: title for name, title in titles.items() if name in filled}


def make_environment(labels: Labels) -> Environment:
    """Return jinja2 with the templates of this folder and the filters, tests and functions that they use."""
    jinja = Environment(
        loader=PackageLoader("warlab", "reporting/page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = (number, signed, percent, cell_text, duration, several, data_uri, pixel_width)
    functions = (grid, legend, setting_name, filled_columns, kind, difference_text, leading_variant)
    jinja.filters.update({one.__name__: one for one in filters}, pretty=result_text)
    jinja.filters.update(method=partial(format_method, labels), methods=partial(mark_methods, labels))
    jinja.globals.update({one.__name__: one for one in functions}, min_seeds=MIN_SEEDS)
    jinja.globals.update(display_name=partial(names.display_name, labels))
    jinja.tests.update(missing=pd.isna, partial=is_partial)
    return jinja


def filled_columns(rows: Sequence[Row]) -> list[str]:
    columns = dict.fromkeys(key for row in rows for key in row)
    return [key for key in columns if any(row.get(key, "") != "" for row in rows)]


def select_relevant(fidelity: Iterable[Mapping[str, Any]], ids: set[str]) -> list[Mapping[str, Any]]:
    """Return the entries that concern something in this report, such as a method, instance-40 or a kind of noise; one
    without `needs` concerns everything."""
    known = ids | {name.partition("-")[0] for name in ids}
    return [entry for entry in fidelity if not entry.get("needs") or known & set(entry["needs"])]


def count_environments(results: Iterable[RunResult]) -> list[tuple[int, Row]]:
    """Return the distinct machines and versions of the runs, each after the number of its runs."""
    entries = []
    for about in (result.provenance for result in results):
        machine = {key: about[key] for key in ("git", "host", "processor", "threads")}
        entries.append(json.dumps(machine | about["versions"]))
    return [(count, json.loads(text)) for text, count in Counter(entries).items()]


# ---- filters of the templates


def cell_text(value: object) -> str:
    """Return a value as a person would write it."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "–"}[value]
    if isinstance(value, Mapping):
        return "; ".join(f"{key} → {cell_text(list(targets)) or 'stays'}" for key, targets in value.items())
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{value:.3g}".replace("e-0", "e-").replace("-", "−")
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def percent(value: float) -> str:
    return f"{value:.1f}\N{NO-BREAK SPACE}%"


def result_text(result: RunResult) -> str:
    return json.dumps(result.to_dict(), indent=2, sort_keys=True, ensure_ascii=False)


def data_uri(png: Path) -> str:
    """Return the figure as a data URI: the SVG next to the PNG if it is smaller, since it is sharp at any size."""
    content, kind, svg = png.read_bytes(), "png", png.with_suffix(".svg")
    if svg.is_file() and svg.stat().st_size < len(content):
        content, kind = svg.read_bytes(), "svg+xml"
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def pixel_width(png: Path) -> int:
    return int.from_bytes(png.read_bytes()[16:20])  # in the header at the beginning of every PNG


def format_method(labels: Labels, identifier: str) -> Markup:
    """Return the printed name of a method, with its subscript."""
    return _format_subscript(names.display_name(labels, "method", identifier))


def mark_methods(labels: Labels, text: str) -> Markup:
    """Return a text in which the names of methods have their subscripts."""
    marked = {str(escape(label)): _format_subscript(label) for label in labels.get("method", {}).values()}
    longest_first = sorted(marked, key=len, reverse=True)
    pattern = "|".join(rf"(?<!\w){re.escape(label)}(?!\w)" for label in longest_first)
    plain = str(escape(text))
    return Markup(re.sub(pattern, lambda match: str(marked[match[0]]), plain) if pattern else plain)


def _format_subscript(label: str) -> Markup:
    head, subscript, rest = names.split_subscript(label)
    return Markup("{}<sub>{}</sub>{}").format(head, subscript, rest) if subscript else escape(head)
