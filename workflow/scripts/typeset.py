"""Typeset all tables of the scale in one PDF."""

from pathlib import Path

from warlab.pipeline.script import job
from warlab.reporting.formats import render
from warlab.reporting.tables.plain import typeset

with job(snakemake.log[0]):
    tables = [Path(file).read_text() for file in snakemake.input]
    title = f"Tables of the scale {snakemake.params.scale}: ours, and the paper's in small print"
    typeset(render("document.tex", tables=tables, title=title), Path(snakemake.output.pdf))
