"""Train one run, or continue it."""

from pathlib import Path

from warlab.engine.lease import gpu_lease
from warlab.engine.run import Files, train_run
from warlab.script import job

wildcards = snakemake.wildcards
name = f"{wildcards.dataset} {wildcards.noise} {wildcards.method} seed{wildcards.seed}"
with job(snakemake.log[0], name) as say, gpu_lease(snakemake.resources.get("gpu_slots", 1), say):
    files = Files.of(dict(snakemake.input.items()))
    out = Path(snakemake.output.result).parent
    train_run(snakemake.params.run, snakemake.params.code, files, out, snakemake.threads, say)
