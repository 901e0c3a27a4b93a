"""Take the scale's part of a dataset and write it as arrays with their description."""

from pathlib import Path

from warlab import data
from warlab.pipeline.script import job

with job(snakemake.log[0]):
    spec = {key: value for key, value in snakemake.params.spec.items() if key != "dataset"}
    raw = Path(snakemake.input.receipt).parent
    prepared = data.get(snakemake.wildcards.dataset).prepare(raw, spec, snakemake.threads)
    prepared.save(snakemake.output.data)
