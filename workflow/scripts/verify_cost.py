"""Verify a ground cost against POT; the report is written only if the cost passes."""

from warlab.artefacts.ground_cost import GroundCost
from warlab.ot.verify import verify_uses
from warlab.pipeline.script import job

with job(snakemake.log[0]):
    cost = GroundCost.load(snakemake.input.cost)
    verification = verify_uses(cost.matrix, snakemake.params.uses, cost.signed, snakemake.input.cost)
    verification.save(snakemake.output.verified)
