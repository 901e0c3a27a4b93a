"""Evaluate the audits of all runs whose wrong labels are known."""

from pathlib import Path

from warlab.common.files import write_text
from warlab.pipeline.script import job
from warlab.reporting.tables.audit_table import audit_markdown, audit_table, run_quality

with job(snakemake.log[0]):
    table = audit_table(row for cell, files in snakemake.params.runs for row in run_quality(files, cell))
    write_text(Path(snakemake.output.csv), table.to_csv(index=False))
    write_text(Path(snakemake.output.md), audit_markdown(table, snakemake.params.labels))
