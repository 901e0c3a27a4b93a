"""The content of the report, and how it is read from the files of a finished study."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from warlab.artefacts.ground_cost import Provenance, Verification
from warlab.artefacts.labelled_data import DataDescription, NoiseManifest
from warlab.artefacts.run_result import RunResult
from warlab.common.files import read_json
from warlab.reporting.claims.evidence import Evidence, load_evidence
from warlab.reporting.claims.verdicts import Verdict
from warlab.reporting.formats import Row
from warlab.reporting.names import Labels
from warlab.reporting.page.curves import Panel, make_panels
from warlab.reporting.read.artefacts import paths_by_role
from warlab.reporting.read.csv_rows import read_table, rows_of
from warlab.reporting.read.predictions import read_predictions
from warlab.reporting.read.results import all_readings, complete_cells, epochs_averaged, read_runs
from warlab.reporting.stats import Statistic
from warlab.reporting.tables.audit_table import audit_rows, legend, read_audit
from warlab.reporting.tables.grid import Orientation
from warlab.reporting.tables.results_table import read_tidy
from warlab.reporting.tables.statistics_table import page_notes, page_readings, page_rows

Epochs = Mapping[tuple[str, ...], int]  # by cell (dataset, noise, network, method), as `results.epochs_averaged`


@dataclass(frozen=True)
class TableSection:
    """One experiment: its tidy table and its layout."""

    name: str
    title: str
    data: pd.DataFrame
    orientation: Orientation = "methods_as_columns"
    section: str = "results"


@dataclass(frozen=True)
class FigureSection:
    """One figure as `style.save` wrote it; title and caption are also its alternative text."""

    name: str
    title: str
    caption: str
    png: Path
    section: str = "results"


@dataclass(frozen=True)
class AuditSection:
    """The contact sheet of one run, and how well the audit finds wrong labels (`audit_table.audit_rows`), if known."""

    sheet: Path
    rows: Sequence[Row]
    legend: str

    @classmethod
    def read(cls, paths: Sequence[Path], labels: Labels) -> "AuditSection | None":
        """Read the table of the audit and a contact sheet; a study with given runs has neither."""
        if not paths:
            return None
        table = read_audit(paths[0])
        return cls(paths[1], audit_rows(table, labels), legend(table))


@dataclass(frozen=True)
class CommittedEvidence:
    """A folder of committed runs, a link to it from the page, what it is, and its numbers."""

    folder: str
    link: str
    what: str
    evidence: Evidence

    @classmethod
    def read(cls, files: Sequence[Path], named: Mapping[str, str], labels: Labels) -> "CommittedEvidence | None":
        """Read evidence.json, runs.csv and, if there are any, the predictions of the folder that the scale names."""
        if not files:
            return None
        about, runs, *predictions = files
        numbers = load_evidence(read_runs(runs), labels, {}, predictions=read_predictions(predictions))
        return cls(named["folder"], named["link"], read_json(about)["what"], numbers)


@dataclass(frozen=True)
class Context:
    """Everything that the page shows. A field that is left empty has no section."""

    scale: str
    description: str = ""  # of the scale, one sentence
    labels: Labels = field(default_factory=dict)
    # Tables and figures are in the order of the page; the headlines come from the first table.
    tables: Sequence[TableSection] = ()
    figures: Sequence[FigureSection] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)  # what this scale cannot show → why
    datasets: Sequence[DataDescription] = ()
    noise: Sequence[NoiseManifest] = ()
    costs: Sequence[tuple[Provenance, Verification]] = ()
    fidelity: Sequence[Mapping[str, Any]] = ()  # of config/fidelity.yaml
    hyperparameters: Sequence[Row] = ()  # of `warlab.config.reductions.used_settings`
    results: Sequence[RunResult] = ()
    claims: Sequence[Verdict] = ()
    reductions: Sequence[Mapping[str, str]] = ()  # of `warlab.config.reductions`
    readings: Sequence[Row] = ()
    statistics: Sequence[Row] = ()
    not_computed: Sequence[str] = ()  # statistics that lack something, with the reason
    curves: Sequence[Panel] = ()
    audit: AuditSection | None = None
    logs: Mapping[str, str] = field(default_factory=dict)  # path of a run (dataset/…/seed0) → the last lines of its log
    epochs: Epochs = field(default_factory=dict)  # that the means of the first table are taken over
    # how uncertain the numbers of the runs are
    evidence: Evidence = field(default_factory=lambda: Evidence({}, {}))
    committed: CommittedEvidence | None = None  # runs that this study did not compute

    @property
    def has_papers_numbers(self) -> bool:
        return any(table.data["published"].notna().any() for table in self.tables)


def read_context(spec: Mapping[str, Any], files: Mapping[str, str | Sequence[str]]) -> Context:
    """Read the files of the report by their roles; `spec` is what no file says (`ReportJobs.spec`)."""
    paths, labels = paths_by_role(files), spec["labels"]
    runs, first = read_runs(paths["runs"][0]), spec["headline"]
    kept, statistics = read_predictions(paths.get("predictions", [])), read_table(paths["statistics"][0], Statistic)
    return Context(
        scale=spec["scale"],
        description=spec["description"],
        labels=labels,
        tables=[TableSection(path.stem, data=read_tidy(path), **spec["tables"][path.stem]) for path in paths["tables"]],
        figures=[
            FigureSection(png.stem, caption=caption.read_text().strip(), png=png, **spec["figures"][png.stem])
            for png, caption in zip(paths["figures"], paths["captions"], strict=True)
        ],
        left_out=spec["left_out"],
        datasets=[DataDescription.load(path) for path in paths["data"]],
        noise=[NoiseManifest.load(path) for path in paths["noise"]],
        costs=[(Provenance.load(path.with_name("cost")), Verification.load(path)) for path in paths["costs"]],
        fidelity=yaml.safe_load(paths["fidelity"][0].read_text()),
        hyperparameters=spec["hyperparameters"],
        results=[RunResult.load(path) for path in paths["results"]],
        claims=rows_of(read_table(paths["claims"][0], Verdict), Verdict),
        statistics=page_rows(statistics, labels),
        not_computed=page_notes(statistics, labels),
        readings=page_readings(all_readings(complete_cells(runs), spec["metrics"]), labels),
        reductions=spec["reductions"],
        curves=make_panels(runs, labels),
        audit=AuditSection.read(paths["audit"], labels),
        logs={run: _last_lines(Path(log)) for run, log in spec["logs"].items()},
        epochs=epochs_averaged(runs, first["last"]),
        evidence=load_evidence(runs, labels, {}, spec["last"], kept, spec["tested_on"]),
        committed=CommittedEvidence.read(paths["committed"], spec["committed"], labels),
    )


def _last_lines(log: Path, lines: int = 15) -> str:
    """Return the end of a log, or "" if it does not exist, such as for given runs."""
    if not log.is_file():
        return ""
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])
