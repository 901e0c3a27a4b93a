"""The report: one HTML file that opens offline and holds everything, figures too."""

import base64
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from warlab.errors import WarlabError
from warlab.reporting import labels as names
from warlab.reporting.claims import difference_text, kind
from warlab.reporting.grid import Orientation, explained, grid, number, setting_name, signed, small_print
from warlab.reporting.headline import Epochs, headlines
from warlab.reporting.labels import Labels

Row = Mapping[str, Any]


@dataclass(frozen=True)
class TableSection:
    """One experiment: its tidy table (`tables.tidy`) and how it is laid out."""

    name: str
    title: str
    data: pd.DataFrame
    orientation: Orientation = "methods_as_columns"
    caption: str = ""


@dataclass(frozen=True)
class FigureSection:
    """One figure as `style.save` wrote it; title and caption are its alternative text, too."""

    name: str
    title: str
    caption: str
    png: Path


@dataclass(frozen=True)
class Context:
    """All that the page shows. Whatever is left empty has no section.

    scale            name of the scale, description its sentence
    tables, figures  in the order of the page; the headlines come from the first table
    left_out         what this scale cannot show → why
    datasets         the JSON of each prepared dataset: dataset, data, source, n_train, n_test, shape, licence
    noise            manifests; costs: provenance of each cost with `verified` (its report) added
    fidelity         entries of config/fidelity.yaml
    hyperparameters  rows of any columns, such as `hyperparameter_rows` makes
    results          the result.json of every run
    claims           rows of claims.csv, shown first; statistics: rows of `comparison_text.for_page`
    reductions       rows of `warlab.reductions`; readings: rows of `comparison_text.readings_for_page`
    curves           panels of `curves.curves`
    logs             path of a run (dataset/…/seed0) → the last lines of its log
    epochs           over how many epochs the means of the first table go (`results.epochs_averaged`)
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
    logs: Mapping[str, str] = field(default_factory=dict)
    epochs: Epochs = field(default_factory=dict)


def render(context: Context) -> str:
    """The whole page as text; it loads nothing from anywhere."""
    environment = Environment(
        loader=PackageLoader("warlab", "reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        number=number,
        signed=signed,
        short=short,
        duration=duration,
        data_uri=data_uri,
        pixel_width=pixel_width,
        pretty=pretty,
        embedded=embedded,
    )
    environment.filters["method"] = lambda identifier: method(context.labels, identifier)
    environment.filters["methods"] = lambda text: with_methods(context.labels, text)
    environment.globals.update(grid=grid, explained=explained, setting_name=setting_name, small_print=small_print)
    environment.globals.update(filled_columns=filled_columns, kind=kind, difference_text=difference_text)
    environment.globals["called"] = lambda kind, identifier: names.name(context.labels, kind, identifier)
    environment.tests["missing"] = missing
    return environment.get_template("page.html").render(
        page=context,
        headlines=_headlines(context),
        stand_ins=[entry for entry in context.datasets if entry.get("data") == "stand-in"],
        fidelity=relevant(context.fidelity, _ids(context)),
        runs=[run_row(result) | {"log": context.logs.get(run_path(result), "")} for result in context.results],
        verdicts=Counter(kind(row["verdict"]) for row in context.claims),
        environments=environments(context.results),
    )


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


# Filters and tests of the template


def missing(value: Any) -> bool:
    """An empty cell in any of the ways in which pandas says so."""
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def short(value: Any) -> str:
    """A number as a person would write it; everything else as it is."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "–"}[value]
    if isinstance(value, Mapping):
        return "; ".join(f"{key} → {short(list(targets)) or 'stays'}" for key, targets in value.items())
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{value:.3g}".replace("e-0", "e-").replace("-", "−")
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def duration(seconds: float) -> str:
    if math.isnan(seconds):
        return "–"
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{seconds:.1f} s"


def pretty(value: Any) -> str:
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, default=str)


def embedded(value: Any) -> Markup:
    """JSON inside a script element; nothing in it can end the element."""
    return Markup(json.dumps(value, ensure_ascii=False).replace("<", "\\u003c"))


def data_uri(png: Path) -> str:
    return f"data:image/png;base64,{base64.b64encode(_png(png)).decode()}"


def pixel_width(png: Path) -> int:
    return int.from_bytes(_png(png)[16:20])  # in the header chunk that every PNG begins with


def method(labels: Labels, identifier: str) -> Markup:
    """The printed name of a method, with its subscript."""
    return _subscripted(names.name(labels, "method", identifier))


def with_methods(labels: Labels, text: str) -> Markup:
    """A sentence in which the names of methods get their subscripts."""
    shown = {str(escape(label)): _subscripted(label) for label in labels.get("method", {}).values()}
    longest_first = sorted(shown, key=len, reverse=True)
    pattern = "|".join(rf"(?<!\w){re.escape(label)}(?!\w)" for label in longest_first)
    plain = str(escape(text))
    return Markup(re.sub(pattern, lambda match: str(shown[match[0]]), plain) if pattern else plain)


def _subscripted(label: str) -> Markup:
    head, subscript, rest = names.parts(label)
    return Markup("{}<sub>{}</sub>{}").format(head, subscript, rest) if subscript else escape(head)


def _png(path: Path) -> bytes:
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise WarlabError(f"The figure {path} cannot be read ({error.strerror}); draw it first.") from error
    if not content.startswith(b"\x89PNG"):
        raise WarlabError(f"{path} is not a PNG file; delete it and draw the figure again.")
    return content


def _headlines(context: Context) -> list[Any]:
    if not context.tables:
        return []
    sources = {entry["dataset"]: entry.get("source", "") for entry in context.datasets}
    return headlines(context.tables[0].data, context.labels, sources, context.epochs)


def _ids(context: Context) -> set[str]:
    columns = [table.data[kind] for table in context.tables for kind in ("dataset", "noise", "net", "method")]
    return {str(value).split("+")[0] for column in columns for value in column}


def _value(entry: Row, dataset: str = "") -> dict[str, Any]:
    return {
        "dataset": dataset,
        "value": entry["value"],
        "unit": entry.get("unit", ""),
        "source": entry["source"],
    }
