"""Fetch the raw files of a dataset and write a receipt of their origin."""

from pathlib import Path

from warlab import data
from warlab.common.files import write_json
from warlab.data.fetch import fetch
from warlab.pipeline.script import job

with job(snakemake.log[0]):
    receipt, names = Path(snakemake.output.receipt), snakemake.wildcards
    # Where the files are is read from the configuration and not from a parameter: another place is not another content.
    local = snakemake.config.get("local_data", {}).get(names.dataset)
    source = names.source.partition("-")[0]
    done = fetch(data.resource(names.dataset), receipt.parent, source, Path(local) if local else None)
    write_json(receipt, done)
