"""Print what each scale would cost."""

from pathlib import Path

from warlab.plan import overview
from warlab.script import job

with job(snakemake.log[0]):
    print(overview(snakemake.params.config, Path(snakemake.params.root)), flush=True)
