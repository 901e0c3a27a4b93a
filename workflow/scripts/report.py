"""Put tables, figures, verification and provenance on one self-contained page."""

from pathlib import Path

import yaml

from warlab.artefacts.ground_cost import Provenance, Verification
from warlab.artefacts.labelled_data import DataDescription, NoiseManifest
from warlab.artefacts.run_result import RunResult
from warlab.common.files import write_text
from warlab.pipeline.script import job
from warlab.reporting.claims import evidence
from warlab.reporting.claims.verdicts import Verdict
from warlab.reporting.page.committed import read_committed
from warlab.reporting.page.context import AuditSection, Context, FigureSection, TableSection
from warlab.reporting.page.curves import curves
from warlab.reporting.page.report_page import render, tail
from warlab.reporting.read.csv_rows import read_table, rows_of
from warlab.reporting.read.predictions import read_kept
from warlab.reporting.read.results import complete, epochs_averaged, read_runs, under_other_names
from warlab.reporting.stats.audit_scores import audit_rows, legend, read_audit
from warlab.reporting.stats.comparison import all_readings
from warlab.reporting.stats.comparison_text import for_page, readings_for_page
from warlab.reporting.stats.over_settings import Statistic
from warlab.reporting.tables.render import hyperparameter_rows
from warlab.reporting.tables.results_table import read_tidy

ASSETS = ("reporting/page/*.html",)  # the templates of the page; part of this job's fingerprint

with job(snakemake.log[0]) as log:
    spec, given = snakemake.params.spec, snakemake.input
    for what, why in spec["left_out"].items():
        log.info(f"Left out: {what}, because {why}.")
    tables = [TableSection(p.stem, data=read_tidy(p), **spec["tables"][p.stem]) for p in map(Path, given.tables)]
    figures = [
        FigureSection(p.stem, caption=Path(caption).read_text().strip(), png=p, **spec["figures"][p.stem])
        for p, caption in zip(map(Path, given.figures), given.captions, strict=True)
    ]
    runs = read_runs(Path(given.runs))
    kept = read_kept(given.get("predictions", []))
    sure = evidence.of_runs(runs, spec["aliases"], spec["labels"], {}, spec["last"], kept, spec["tested_on"])
    audit = None
    if given.audit:
        found = read_audit(Path(given.audit[0]))
        audit = AuditSection(Path(given.audit[1]), audit_rows(found, spec["labels"]), legend(found))
    context = Context(
        scale=spec["scale"],
        description=spec["description"],
        labels=spec["labels"],
        tables=tables,
        figures=figures,
        left_out=spec["left_out"],
        datasets=[DataDescription.load(p) for p in given.data],
        noise=[NoiseManifest.load(p) for p in given.noise],
        costs=[(Provenance.load(Path(p).with_name("cost")), Verification.load(p)) for p in given.costs],
        fidelity=yaml.safe_load(Path(given.fidelity).read_text()),
        hyperparameters=hyperparameter_rows(spec["hyperparameters"]),
        results=[RunResult.load(Path(p)) for p in given.results],
        claims=rows_of(read_table(Path(given.claims), Verdict), Verdict),
        statistics=for_page(read_table(Path(given.statistics), Statistic), spec["labels"]),
        readings=readings_for_page(all_readings(complete(runs), spec["metrics"]), spec["labels"]),
        reductions=spec["reductions"],
        curves=curves(runs, spec["labels"]),
        audit=audit,
        logs={run: tail(Path(log)) for run, log in spec["logs"].items()},
        epochs=epochs_averaged(under_other_names(runs, spec["headline"]["trained_as"]), spec["headline"]["last"]),
        evidence=sure,
        committed=read_committed(spec["committed"], spec["labels"], spec["reductions"], set(runs["method"])),
    )
    write_text(snakemake.output.report, render(context))
