"""Make the table of times: tidy csv for machines, md and tex for people."""

from pathlib import Path

from warlab.common.files import read_json, write_text
from warlab.pipeline.script import job
from warlab.reporting.read.results import read_published
from warlab.reporting.tables.plain import to_latex, to_markdown
from warlab.reporting.tables.timing_table import COLUMNS, is_reduced, timing_legend, timing_rows, timing_table

with job(snakemake.log[0]):
    measured = [read_json(Path(path)) for path in snakemake.input.times]
    table = timing_table(measured, read_published(Path(snakemake.input.published), "timing"))
    machine = measured[0]["provenance"]
    where = f"{machine['processor']}, {machine['threads']} threads"
    write_text(snakemake.output.csv, table.to_csv(index=False))
    caption = timing_legend(snakemake.params.title, where, any(map(is_reduced, measured)))
    rows = timing_rows(table, snakemake.params.labels)
    write_text(snakemake.output.md, to_markdown(rows, COLUMNS, caption))
    write_text(snakemake.output.tex, to_latex(rows, COLUMNS, caption, "tab:timing"))
