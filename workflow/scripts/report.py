"""Put tables, figures, verification and provenance on one self-contained page."""

from warlab.common.files import write_text
from warlab.pipeline.script import job
from warlab.reporting.page.context import read_context
from warlab.reporting.page.report_page import render

ASSETS = ("reporting/page/*.html",)  # the templates of the page; part of this job's digest

with job(snakemake.log[0]) as log:
    for what, why in snakemake.params.spec["left_out"].items():
        log.info(f"Left out: {what}, because {why}.")
    context = read_context(snakemake.params.spec, dict(snakemake.input.items()))
    write_text(snakemake.output.report, render(context))
