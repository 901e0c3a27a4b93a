"""Print how far every run is."""

from pathlib import Path

from warlab.config import load_study
from warlab.script import job
from warlab.status import status

with job(snakemake.log[0]):
    print(status(load_study(snakemake.params.config, Path(snakemake.params.root))), flush=True)
