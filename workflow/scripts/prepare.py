"""Take the scale's part of a dataset and write it as arrays with their description."""

from pathlib import Path

from warlab import data
from warlab.pipeline.script import job

with job(snakemake.log[0]):
    raw = Path(snakemake.input.receipt).parent
    prepared = data.get(snakemake.wildcards.dataset).prepare(raw, snakemake.params.spec, snakemake.threads)
    prepared.save(snakemake.output.data)
