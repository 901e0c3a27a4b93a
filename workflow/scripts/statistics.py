"""Compute the readings of every run and test the differences between methods."""

from pathlib import Path

from warlab.common.files import write_text
from warlab.pipeline.script import job
from warlab.reporting.read.predictions import read_predictions
from warlab.reporting.read.results import add_complete_flag, all_readings, read_published, read_runs
from warlab.reporting.tables.statistics_table import statistics, to_markdown

with job(snakemake.log[0]):
    experiments, given = snakemake.params.experiments, snakemake.input
    runs = read_runs(Path(given.runs))
    per_run = all_readings(runs, [spec["metric"] for spec in experiments.values()])
    predictions = read_predictions(given.predictions)
    published = read_published(Path(given.published))
    tests = statistics(
        add_complete_flag(per_run, runs), experiments, published, predictions, snakemake.params.tested_on
    )
    titles = {name: spec["title"] for name, spec in experiments.items()}
    write_text(snakemake.output.readings, per_run.to_csv(index=False))
    write_text(snakemake.output.csv, tests.to_csv(index=False))
    write_text(snakemake.output.md, to_markdown(tests, titles, snakemake.params.labels))
