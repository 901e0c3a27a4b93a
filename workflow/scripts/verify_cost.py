"""Verify a ground cost against POT; the report is written only if the cost passes."""

from warlab.artefacts.ground_cost import GroundCost
from warlab.ot.cost_checks import refuse_failed
from warlab.ot.verify import verify_cost
from warlab.pipeline.script import job

with job(snakemake.log[0]):
    cost, use = GroundCost.load(snakemake.input.cost), snakemake.wildcards
    verification = verify_cost(cost.matrix, float(use.lam), int(use.iterations), cost.signed)
    refuse_failed(verification.checks, snakemake.input.cost)
    verification.save(snakemake.output.verified)
