"""Readings of every run, and what tests say of the methods."""

from pathlib import Path

from warlab.files import write_text
from warlab.reporting.comparison import statistics, to_markdown, with_whole
from warlab.reporting.results import read_published, read_runs
from warlab.reporting.stats import readings
from warlab.script import job

with job(snakemake.log[0]):
    runs = read_runs(Path(snakemake.input.runs))
    per_run = readings(runs)
    found = statistics(
        with_whole(per_run, runs), snakemake.params.experiments, read_published(Path(snakemake.input.published))
    )
    titles = {name: spec["title"] for name, spec in snakemake.params.experiments.items()}
    write_text(snakemake.output.readings, per_run.to_csv(index=False))
    write_text(snakemake.output.csv, found.to_csv(index=False))
    write_text(snakemake.output.md, to_markdown(found, titles, snakemake.params.labels))
