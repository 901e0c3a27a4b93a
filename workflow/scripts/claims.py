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
    ours = evidence.load_evidence(
        read_runs(Path(snakemake.input.runs)),
        labels,
        read_json(Path(snakemake.input.propositions)),
        snakemake.params.last,
        read_predictions(snakemake.input.predictions),
        snakemake.params.tested_on,
    )
    timed = [read_json(Path(file)) for file in snakemake.input.timing]
    ours = evidence.add_times(ours, [entry for entry in timed if not is_reduced(entry)], snakemake.params.stands_for)
    claims = read_claims(Path(snakemake.input.claims))
    paper = cache(lambda first: evidence.paper_evidence(read_published(published, first), labels))
    judged = verdicts.judge_all(claims, ours, paper)
    log.info(verdicts.count_verdicts(judged["verdict"]))
    write_text(snakemake.output.csv, judged.to_csv(index=False))
    write_text(snakemake.output.md, verdicts.to_markdown(judged, snakemake.params.scale))
