"""Verify a ground cost against POT; its report is written only if training may start on it."""

from pathlib import Path

from warlab.common.files import read_json, write_json
from warlab.ot.costfile import read_cost
from warlab.ot.verify import report
from warlab.pipeline.script import job

with job(snakemake.log[0]):
    provenance = read_json(Path(snakemake.input.provenance))
    cost = read_cost(Path(snakemake.input.cost), provenance["class_names"])
    signed = provenance["settings"].get("variant") == "raw"
    write_json(snakemake.output.verified, report(cost, snakemake.params.uses, signed, snakemake.input.cost))
