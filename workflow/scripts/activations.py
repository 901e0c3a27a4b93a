"""Write the features of the test images before the classifier, with the weights of a finished run."""

from pathlib import Path

from warlab.artefacts.run_config import RunConfig
from warlab.engine.build import RunFiles
from warlab.engine.finished import write_activations
from warlab.engine.lock import gpu_lease
from warlab.pipeline.script import files_by_role, job

with job(snakemake.log[0]), gpu_lease(snakemake.resources.get("gpu_slots", 1)):
    files = RunFiles.select(files_by_role(snakemake.input))
    weights, out = Path(snakemake.input.weights), Path(snakemake.output.activations)
    write_activations(RunConfig.from_dict(snakemake.params.run), files, weights, out, snakemake.threads)
