"""From the files of a finished study to the content of its report."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from warlab.artefacts.ground_cost import Provenance, Verification
from warlab.artefacts.labelled_data import DataDescription, NoiseManifest
from warlab.artefacts.run_result import RunResult
from warlab.common.files import read_json
from warlab.reporting.claims import evidence
from warlab.reporting.claims.verdicts import Verdict
from warlab.reporting.names import Labels
from warlab.reporting.page.context import AuditSection, CommittedEvidence, Context, FigureSection, TableSection
from warlab.reporting.page.curves import make_panels
from warlab.reporting.read.artefacts import paths_by_role
from warlab.reporting.read.csv_rows import read_table, rows_of
from warlab.reporting.read.predictions import read_predictions
from warlab.reporting.read.results import all_readings, complete_cells, epochs_averaged, read_runs
from warlab.reporting.stats import Statistic
from warlab.reporting.tables.audit_table import audit_rows, legend, read_audit
from warlab.reporting.tables.results_table import read_tidy
from warlab.reporting.tables.statistics_text import page_readings, page_rows


def read_context(spec: Mapping[str, Any], files: Mapping[str, str | Sequence[str]]) -> Context:
    """Read the files of the report by their roles; `spec` is what no file says (`ReportJobs.spec`)."""
    paths, labels = paths_by_role(files), spec["labels"]
    runs, first = read_runs(paths["runs"][0]), spec["headline"]
    kept = read_predictions(paths.get("predictions", []))
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
        statistics=page_rows(read_table(paths["statistics"][0], Statistic), labels),
        readings=page_readings(all_readings(complete_cells(runs), spec["metrics"]), labels),
        reductions=spec["reductions"],
        curves=make_panels(runs, labels),
        audit=_audit(paths["audit"], labels),
        logs={run: _last_lines(Path(log)) for run, log in spec["logs"].items()},
        epochs=epochs_averaged(runs, first["last"]),
        evidence=evidence.load_evidence(runs, labels, {}, spec["last"], kept, spec["tested_on"]),
        committed=read_committed(paths["committed"], spec["committed"], labels),
    )


def read_committed(files: Sequence[Path], named: Mapping[str, str], labels: Labels) -> CommittedEvidence | None:
    """Read evidence.json, runs.csv and, if there are any, the predictions of the folder that the scale names."""
    if not files:
        return None
    about, runs, *predictions = files
    numbers = evidence.load_evidence(read_runs(runs), labels, {}, predictions=read_predictions(predictions))
    return CommittedEvidence(named["folder"], named["link"], read_json(about)["what"], numbers)


def _audit(paths: Sequence[Path], labels: Labels) -> AuditSection | None:
    """Read the table of the audit and a contact sheet; a study with given runs has neither."""
    if not paths:
        return None
    table = read_audit(paths[0])
    return AuditSection(paths[1], audit_rows(table, labels), legend(table))


def _last_lines(log: Path, lines: int = 15) -> str:
    """Return the end of a log, or "" if it does not exist, such as for given runs."""
    if not log.is_file():
        return ""
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])
