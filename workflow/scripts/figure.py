"""Draw one figure and write it with its caption."""

from pathlib import Path

from warlab.common.files import write_text
from warlab.pipeline.script import job
from warlab.reporting import style
from warlab.reporting.figures.base import make, read_inputs

with job(snakemake.log[0]):
    files = {role: given for role, given in snakemake.input.items() if given}
    inputs = read_inputs(files, snakemake.params.labels, snakemake.params.specs)
    figure, caption = make(snakemake.wildcards.figure, inputs)
    style.save(figure, Path(snakemake.output.png).with_suffix(""))
    write_text(snakemake.output.caption, caption + "\n")
