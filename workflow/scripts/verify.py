"""Compare a run that was trained again with the one that is reported."""

from pathlib import Path

from warlab.files import write_json
from warlab.reporting.again import compare
from warlab.reporting.results import read_runs
from warlab.script import job

with job(snakemake.log[0]) as say:
    run = snakemake.params.run
    found = compare(read_runs(Path(snakemake.input.runs)), Path(snakemake.input.metrics), run)
    say(found["sentence"])
    write_json(snakemake.output.comparison, found)
