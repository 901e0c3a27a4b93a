"""What the report is made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

import pandas as pd

from warlab.reporting.claims.evidence import Evidence
from warlab.reporting.claims.verdicts import Verdict
from warlab.reporting.page.committed import Committed
from warlab.reporting.page.curves import Panel
from warlab.reporting.page.headline import Epochs
from warlab.reporting.read.artefacts import Cost, DataMeta, Noise
from warlab.reporting.tables.grid import Orientation
from warlab.reporting.tables.labels import Labels
from warlab.reporting.tables.render import Row


@dataclass(frozen=True)
class TableSection:
    """One experiment: its tidy table (`tables.tidy`) and how it is laid out."""

    name: str
    title: str
    data: pd.DataFrame
    orientation: Orientation = "methods_as_columns"
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


class Difference(TypedDict, total=False):
    """Where paper and code differ, and what is taken; `needs` are the ids that it concerns, all if there are none."""

    topic: str
    paper: str
    code: str
    choice: str
    why: str
    needs: list[str]


@dataclass(frozen=True)
class Context:
    """All that the page shows. Whatever is left empty has no section."""

    scale: str
    description: str = ""  # of the scale, a sentence
    labels: Labels = field(default_factory=dict)
    # Tables and figures in the order of the page, each in its section; the headlines come from the first table.
    tables: Sequence[TableSection] = ()
    figures: Sequence[FigureSection] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)  # what this scale cannot show → why
    datasets: Sequence[DataMeta] = ()
    noise: Sequence[Noise] = ()
    costs: Sequence[Cost] = ()
    fidelity: Sequence[Difference] = ()  # of config/fidelity.yaml
    hyperparameters: Sequence[Row] = ()  # of any columns, such as `hyperparameter_rows` makes
    results: Sequence[Mapping[str, Any]] = ()  # the result.json of every run
    claims: Sequence[Verdict] = ()
    reductions: Sequence[Mapping[str, str]] = ()  # of `warlab.config.reductions`
    readings: Sequence[Row] = ()  # of `comparison_text.readings_for_page`
    statistics: Sequence[Row] = ()  # of `comparison_text.for_page`
    curves: Sequence[Panel] = ()
    audit: AuditSection | None = None
    logs: Mapping[str, str] = field(default_factory=dict)  # path of a run (dataset/…/seed0) → the last lines of its log
    epochs: Epochs = field(default_factory=dict)  # of the means of the first table (`results.epochs_averaged`)
    evidence: Evidence | None = None  # how sure the numbers of the runs are (`evidence.of_runs`)
    committed: Sequence[Committed] = ()  # results that this run did not compute, see `committed.py`

    @property
    def has_papers_numbers(self) -> bool:
        return any(table.data["published"].notna().any() for table in self.tables)
