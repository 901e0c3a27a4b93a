"""Make one ground cost and write it with its provenance."""

from pathlib import Path

from warlab.ot.costs import make_cost
from warlab.ot.costs.base import CostInputs
from warlab.pipeline.script import files_by_role, job

with job(snakemake.log[0]):
    settings, files = dict(snakemake.params.spec), files_by_role(snakemake.input)
    inputs = CostInputs.read({role: Path(file) for role, file in files.items()}, snakemake.wildcards.cost)
    make_cost(settings.pop("kind"), inputs, settings).save(snakemake.output.cost)
