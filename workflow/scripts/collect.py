"""Gather the metrics of all declared runs in one tidy table, or take them from a finished one."""

from pathlib import Path

from warlab.common.files import write_text
from warlab.pipeline.script import job
from warlab.reporting.read.results import collect, read_runs, select

with job(snakemake.log[0]):
    if snakemake.input.given:
        runs = select(read_runs(Path(snakemake.input.given[0])), snakemake.params.declared)
    else:
        runs = collect(Path(result).parent for result in snakemake.input.results)
    write_text(snakemake.output.runs, runs.to_csv(index=False))
