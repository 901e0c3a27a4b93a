"""Print the state of every run."""

from pathlib import Path

from warlab.cli.status import status
from warlab.config.study import load_study
from warlab.pipeline.script import job

with job(snakemake.log[0]):
    root = Path(snakemake.params.root)
    print(status(load_study(snakemake.params.config, root), root), flush=True)
