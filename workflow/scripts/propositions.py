"""Compute the paper's propositions on random predictions."""

from warlab.files import write_json
from warlab.ot.propositions import report
from warlab.script import job

with job(snakemake.log[0]):
    write_json(snakemake.output.json, report())
