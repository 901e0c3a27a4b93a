"""Make the table of times: tidy csv for machines, md and tex for people."""

from pathlib import Path

from warlab.common.files import read_json, write_text
from warlab.pipeline.script import job
from warlab.reporting.read.results import read_published
from warlab.reporting.tables.timing_table import is_reduced, timing_latex, timing_markdown, timing_table

with job(snakemake.log[0]):
    measured = [read_json(Path(path)) for path in snakemake.input.times]
    table = timing_table(measured, read_published(Path(snakemake.input.published), "timing"))
    machine = measured[0]["provenance"]
    where = f"{machine['processor']}, {machine['threads']} threads"
    write_text(snakemake.output.csv, table.to_csv(index=False))
    reduced = any(map(is_reduced, measured))
    shape = (table, snakemake.params.labels, snakemake.params.title, where, reduced)
    write_text(snakemake.output.md, timing_markdown(*shape))
    write_text(snakemake.output.tex, timing_latex(*shape))
