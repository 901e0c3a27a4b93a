"""Draw one figure and write it with its caption."""

from pathlib import Path

from warlab.files import write_text
from warlab.reporting.figures import get, style
from warlab.reporting.inputs import read_inputs
from warlab.script import job

with job(snakemake.log[0]):
    figure = get(snakemake.wildcards.figure)
    inputs = read_inputs(dict(snakemake.input.items()), snakemake.params.labels, snakemake.params.aliases)
    style.save(figure.draw(inputs), Path(snakemake.output.png).with_suffix(""))
    write_text(snakemake.output.caption, figure.caption(inputs) + "\n")
