"""The report: one HTML file that opens offline and holds everything, figures too."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined

from warlab.ids import base_method
from warlab.reporting.claims.evidence import Evidence
from warlab.reporting.claims.verdicts import UNTESTED, difference_text, kind
from warlab.reporting.page import filters as filters
from warlab.reporting.page.committed import Committed
from warlab.reporting.page.headline import Epochs, Headline, headlines
from warlab.reporting.page.opening import Content, Opening, opening
from warlab.reporting.page.report_rows import environments, filled_columns, relevant, run_path, run_row
from warlab.reporting.page.sections import SECTIONS
from warlab.reporting.stats.comparison_text import NOT_COMPUTED
from warlab.reporting.tables import labels as names
from warlab.reporting.tables.grid import Orientation, explained, grid, number, setting_name, signed, small_print
from warlab.reporting.tables.labels import Labels

Row = Mapping[str, Any]


@dataclass(frozen=True)
class TableSection:
    """One experiment: its tidy table (`tables.tidy`) and how it is laid out."""

    name: str
    title: str
    data: pd.DataFrame
    orientation: Orientation = "methods_as_columns"
    caption: str = ""
    section: str = "results"


@dataclass(frozen=True)
class FigureSection:
    """One figure as `style.save` wrote it; title and caption are its alternative text, too."""

    name: str
    title: str
    caption: str
    png: Path
    section: str = "results"


@dataclass(frozen=True)
class AuditSection:
    """The contact sheet of one run, and how well the audit finds wrong labels (`audit.audit_rows`), if it is known."""

    sheet: Path
    rows: Sequence[Row]
    legend: str


@dataclass(frozen=True)
class Context:
    """All that the page shows. Whatever is left empty has no section.

    scale            name of the scale, description its sentence
    tables, figures  in the order of the page, each in its section; the headlines come from the first table
    left_out         what this scale cannot show → why
    datasets         the JSON of each prepared dataset: dataset, data, source, n_train, n_test, shape, licence
    noise            manifests; costs: provenance of each cost with `verified` (its report) added
    fidelity         entries of config/fidelity.yaml
    hyperparameters  rows of any columns, such as `hyperparameter_rows` makes
    results          the result.json of every run
    claims           rows of claims.csv; statistics: rows of `comparison_text.for_page`
    reductions       rows of `warlab.config.reductions`; readings: rows of `comparison_text.readings_for_page`
    curves           panels of `curves.curves`
    audit            labels that look wrong, see `AuditSection`
    logs             path of a run (dataset/…/seed0) → the last lines of its log
    epochs           over how many epochs the means of the first table go (`results.epochs_averaged`)
    evidence         how sure the numbers of the runs are (`evidence.of_runs`)
    committed        results that this run did not compute, see `committed.py`
    """

    scale: str
    description: str = ""
    labels: Labels = field(default_factory=dict)
    tables: Sequence[TableSection] = ()
    figures: Sequence[FigureSection] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    datasets: Sequence[Row] = ()
    noise: Sequence[Row] = ()
    costs: Sequence[Row] = ()
    fidelity: Sequence[Row] = ()
    hyperparameters: Sequence[Row] = ()
    results: Sequence[Row] = ()
    claims: Sequence[Row] = ()
    reductions: Sequence[Row] = ()
    readings: Sequence[Row] = ()
    statistics: Sequence[Row] = ()
    curves: Sequence[Row] = ()
    audit: AuditSection | None = None
    logs: Mapping[str, str] = field(default_factory=dict)
    epochs: Epochs = field(default_factory=dict)
    evidence: Evidence | None = None
    committed: Sequence[Committed] = ()


def render(context: Context) -> str:
    """The whole page as text; it loads nothing from anywhere."""
    said = _headlines(context)
    settled = [row for row in context.claims if row["verdict"] != UNTESTED]
    return (
        _environment(context)
        .get_template("report.html")
        .render(
            page=context,
            opening=_opening(context, said),
            sections=sections(context),
            headlines=said,
            stand_ins=[entry for entry in context.datasets if entry.get("data") == "stand-in"],
            fidelity=relevant(context.fidelity, _ids(context)),
            runs=[run_row(result) | {"log": context.logs.get(run_path(result), "")} for result in context.results],
            settled=settled,
            untested=[row for row in context.claims if row["verdict"] == UNTESTED],
            verdicts=Counter(kind(row["verdict"]) for row in context.claims),
            tests=[row for row in context.statistics if row["statistic"] != NOT_COMPUTED],
            lacking=[row for row in context.statistics if row["statistic"] == NOT_COMPUTED],
            environments=environments(context.results),
        )
    )


def sections(context: Context) -> dict[str, str]:
    """The sections that have something to show, in their order, with their titles."""
    content = {
        "results": context.tables or context.curves,
        "audit": context.audit,
        "claims": context.claims,
        "statistics": context.statistics or context.readings,
        "data": context.datasets or context.noise or context.costs,
        "fidelity": relevant(context.fidelity, _ids(context)),
        "settings": context.reductions or context.hyperparameters,
        "provenance": context.results or context.left_out,
    }
    sorted_in = {table.section for table in context.tables} | {figure.section for figure in context.figures}
    titles = SECTIONS if _beside_the_paper(context) else SECTIONS | {"results": "Results"}
    shown = {name for name, found in content.items() if found} | (sorted_in - {"audit"})
    return {name: title for name, title in titles.items() if name in shown}


def _beside_the_paper(context: Context) -> bool:
    return any(table.data["published"].notna().any() for table in context.tables)


def _environment(context: Context) -> Environment:
    environment = Environment(
        loader=PackageLoader("warlab", "reporting/page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(number=number, signed=signed)
    for name in ("short", "duration", "data_uri", "pixel_width", "pretty", "embedded"):
        environment.filters[name] = getattr(filters, name)
    environment.filters["method"] = lambda identifier: filters.method(context.labels, identifier)
    environment.filters["methods"] = lambda text: filters.with_methods(context.labels, text)
    environment.globals.update(grid=grid, explained=explained, setting_name=setting_name, small_print=small_print)
    environment.globals.update(filled_columns=filled_columns, kind=kind, difference_text=difference_text)
    environment.globals["called"] = lambda kind, identifier: names.name(context.labels, kind, identifier)
    environment.tests["missing"] = filters.missing
    return environment


def _opening(context: Context, said: Sequence[Headline]) -> Opening:
    times = [run_row(result)["seconds"] for result in context.results]
    seconds = sum(time for time in times if not math.isnan(time))
    return opening(
        Content(
            labels=context.labels,
            description=context.description,
            curves=context.curves,
            headlines=said,
            evidence=context.evidence,
            datasets=context.datasets,
            reductions=context.reductions if _beside_the_paper(context) else (),  # of your own data there are none
            claims=context.claims,
            seconds=seconds,
            duration=filters.duration(seconds),
        )
    )


def _headlines(context: Context) -> list[Headline]:
    if not context.tables:
        return []
    sources = {entry["dataset"]: entry.get("source", "") for entry in context.datasets}
    return headlines(context.tables[0].data, context.labels, sources, context.epochs, context.evidence)


def _ids(context: Context) -> set[str]:
    columns = [table.data[kind] for table in context.tables for kind in ("dataset", "noise", "net", "method")]
    return {base_method(str(value)) for column in columns for value in column}
