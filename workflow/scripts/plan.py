"""Print the number and the estimated time of the trainings of each scale."""

from pathlib import Path

from warlab.pipeline.run_times import overview
from warlab.pipeline.script import job

with job(snakemake.log[0]):
    print(overview(snakemake.params.config, Path(snakemake.params.root)), flush=True)
