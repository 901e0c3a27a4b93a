"""Compute the paper's propositions on random predictions."""

from warlab.common.files import write_json
from warlab.ot.propositions import report
from warlab.pipeline.script import job

with job(snakemake.log[0]):
    write_json(snakemake.output.json, report())
