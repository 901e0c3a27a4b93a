"""Take the scale's part of a dataset and write it as arrays with their description."""

from pathlib import Path

from warlab import data
from warlab.data.in_place import update_pointer
from warlab.pipeline.script import job

with job(snakemake.log[0]):
    dataset, raw = data.get(snakemake.wildcards.dataset), Path(snakemake.input[0]).parent
    local = snakemake.config.get("local_data", {}).get(dataset.name)
    update_pointer(dataset, snakemake.params.spec["source"], raw, local)
    prepared = dataset.prepare(raw, snakemake.params.spec, snakemake.threads)
    prepared.save(snakemake.output.data)
