"""Train one run, or continue it."""

from pathlib import Path

from warlab.engine.run import Files, train_run
from warlab.script import job

wildcards = snakemake.wildcards
name = f"{wildcards.dataset} {wildcards.noise} {wildcards.method} seed{wildcards.seed}"
with job(snakemake.log[0], name) as say:
    cost = snakemake.input.get("cost")
    files = Files(Path(snakemake.input.data), Path(snakemake.input.noise), Path(cost) if cost else None)
    out = Path(snakemake.output.result).parent
    train_run(snakemake.params.run, snakemake.params.code, files, out, snakemake.threads, say)
