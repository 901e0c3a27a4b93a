"""Make one ground cost and write it with its provenance."""

from pathlib import Path

from warlab.ot.costs import make_cost
from warlab.ot.costs.base import CostInputs
from warlab.pipeline.script import job

with job(snakemake.log[0]):
    settings, files = dict(snakemake.params.spec), snakemake.input.items()
    inputs = CostInputs.read({role: Path(str(path)) for role, path in files}, snakemake.wildcards.cost)
    make_cost(settings.pop("kind"), inputs, settings).save(snakemake.output.cost)
