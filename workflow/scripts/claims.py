"""Judge every claim by the scale's runs and by the paper's own tables."""

from functools import cache
from pathlib import Path

from warlab.common.files import read_json, write_text
from warlab.config.claim_list import read_claims
from warlab.pipeline.script import job
from warlab.reporting.claims import evidence, verdicts
from warlab.reporting.read.predictions import read_predictions
from warlab.reporting.read.results import read_published, read_runs
from warlab.reporting.tables.timing_table import is_reduced

with job(snakemake.log[0]) as log:
    labels, published = snakemake.params.labels, Path(snakemake.input.published)
    ours = evidence.of_runs(
        read_runs(Path(snakemake.input.runs)),
        snakemake.params.aliases,
        labels,
        read_json(Path(snakemake.input.propositions)),
        snakemake.params.last,
        read_predictions(snakemake.input.get("predictions", [])),
        snakemake.params.tested_on,
    )
    timed = [read_json(Path(file)) for file in snakemake.input.timing]
    ours = evidence.with_times(ours, [entry for entry in timed if not is_reduced(entry)], snakemake.params.stands_for)
    listed = read_claims(Path(snakemake.input.claims))
    paper = cache(lambda first: evidence.of_paper(read_published(published, first), labels))
    found = verdicts.table(listed, ours, paper)
    log.info(verdicts.counts(found["verdict"]))
    write_text(snakemake.output.csv, found.to_csv(index=False))
    write_text(snakemake.output.md, verdicts.to_markdown(found, snakemake.params.scale))
