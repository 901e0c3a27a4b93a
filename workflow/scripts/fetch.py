"""Fetch the raw files of a dataset and write a receipt of their origin."""

from pathlib import Path

from warlab import data
from warlab.common.files import write_json
from warlab.data.fetch import fetch
from warlab.pipeline.script import job

with job(snakemake.log[0]):
    receipt = Path(snakemake.output.receipt)
    local = Path(snakemake.params.local) if snakemake.params.local else None
    done = fetch(data.resource(snakemake.wildcards.dataset), receipt.parent, snakemake.wildcards.source, local)
    write_json(receipt, done)
