"""Gather the metrics of all declared runs in one tidy table."""

from pathlib import Path

from warlab.files import write_text
from warlab.reporting.results import collect
from warlab.script import job

with job(snakemake.log[0]):
    runs = collect(Path(result).parent for result in snakemake.input.results)
    write_text(snakemake.output.runs, runs.to_csv(index=False))
