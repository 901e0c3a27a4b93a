"""Draw one figure and write it with its caption."""

from pathlib import Path

from warlab.common.files import write_text
from warlab.pipeline.script import job
from warlab.reporting import style
from warlab.reporting.figures.base import make, read_inputs

with job(snakemake.log[0]):
    inputs = read_inputs(dict(snakemake.input.items()), snakemake.params.labels, snakemake.params.aliases)
    figure, caption = make(snakemake.wildcards.figure, inputs)
    style.save(figure, Path(snakemake.output.png).with_suffix(""))
    write_text(snakemake.output.caption, caption + "\n")
