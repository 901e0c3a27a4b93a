"""Predict whole test tiles with the weights of a finished run, and write their maps."""

from pathlib import Path

from warlab.artefacts.labelled_data import DataDescription
from warlab.artefacts.run_config import RunConfig
from warlab.common.files import read_arrays, write_arrays
from warlab.engine.build import RunFiles
from warlab.engine.finished import map_run
from warlab.engine.lock import gpu_lease
from warlab.pipeline.script import files_by_role, job
from warlab.reporting.images.label_maps import write_maps

with job(snakemake.log[0]), gpu_lease(snakemake.resources.get("gpu_slots", 1)):
    files, out = RunFiles.select(files_by_role(snakemake.input)), Path(snakemake.output.labels)
    labels = map_run(RunConfig.from_dict(snakemake.params.run), files, Path(snakemake.input.weights), snakemake.threads)
    sizes = read_arrays(files.data, "test_sizes")["test_sizes"]
    write_maps(Path(snakemake.output.maps), labels, sizes, "test", DataDescription.load(files.data))
    write_arrays(out, labels=labels)
