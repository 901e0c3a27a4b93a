"""The content of the report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from warlab.artefacts.ground_cost import Provenance, Verification
from warlab.artefacts.labelled_data import DataDescription, NoiseManifest
from warlab.artefacts.run_result import RunResult
from warlab.reporting.claims.evidence import Evidence
from warlab.reporting.claims.verdicts import Verdict
from warlab.reporting.formats import Row
from warlab.reporting.names import Labels
from warlab.reporting.page.curves import Panel
from warlab.reporting.tables.grid import Orientation

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


@dataclass(frozen=True)
class CommittedEvidence:
    """A folder of committed runs, a link to it from the page, what it is, and its numbers."""

    folder: str
    link: str
    what: str
    evidence: Evidence


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
