"""Compare a run that was trained again with the reported one."""

from pathlib import Path

from warlab.common.files import write_json
from warlab.pipeline.script import job
from warlab.reporting.read.results import compare_retrained, read_runs

with job(snakemake.log[0]) as log:
    run = snakemake.params.run
    comparison = compare_retrained(read_runs(Path(snakemake.input.runs)), Path(snakemake.input.metrics), run)
    log.info(comparison["sentence"])
    write_json(snakemake.output.comparison, comparison)
