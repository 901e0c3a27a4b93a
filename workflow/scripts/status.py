"""Print how far every run is."""

from pathlib import Path

from warlab.cli.status import status
from warlab.config.study import load_study
from warlab.pipeline.script import job

with job(snakemake.log[0]):
    print(status(load_study(snakemake.params.config, Path(snakemake.params.root))), flush=True)
