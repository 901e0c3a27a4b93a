"""Train one run, or continue it from its checkpoint."""

from pathlib import Path

from warlab.artefacts.run_config import RunConfig
from warlab.engine.build import RunFiles
from warlab.engine.lock import gpu_lease
from warlab.engine.run import train_run
from warlab.pipeline.script import files_by_role, job

wildcards = snakemake.wildcards
name = f"{wildcards.dataset} {wildcards.noise} {wildcards.method} seed{wildcards.seed}"
out = Path(snakemake.output.result).parent
slots = snakemake.resources.get("gpu_slots", 1)
with job(snakemake.log[0], name, out / "history.log"), gpu_lease(slots):
    files, given = RunFiles.select(files_by_role(snakemake.input)), snakemake.params
    train_run(RunConfig.from_dict(given.run), given.code, files, out, snakemake.threads, given.sources)
