"""Print what each scale would cost."""

from pathlib import Path

from warlab.pipeline.script import job
from warlab.pipeline.time_estimate import overview

with job(snakemake.log[0]):
    print(overview(snakemake.params.config, Path(snakemake.params.root)), flush=True)
