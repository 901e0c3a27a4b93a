"""Gather the test predictions of all runs, with the true classes, in one file."""

from pathlib import Path

from warlab.common.files import write_arrays
from warlab.ids import RunId
from warlab.pipeline.script import job
from warlab.reporting.read.predictions import collect_predictions

with job(snakemake.log[0]):
    out, files = Path(snakemake.output.predictions), snakemake.input.predictions
    write_arrays(out, **collect_predictions(out.parent, (str(RunId.parse(str(Path(file).parent))) for file in files)))
