"""Make one table: tidy csv for machines, md and tex in the paper's layout."""

from pathlib import Path

import pandas as pd

from warlab.common.files import write_text
from warlab.pipeline.script import job
from warlab.reporting.read.results import collect, read_published, read_runs, select_declared, summarise
from warlab.reporting.tables.results_table import add_quoted, tidy, to_latex, to_markdown

with job(snakemake.log[0]):
    spec = snakemake.params.spec
    published = read_published(Path(snakemake.input.published), snakemake.wildcards.experiment)
    given, folders = snakemake.input.runs, [Path(result).parent for result in snakemake.input.results]
    runs = select_declared(read_runs(Path(given)), spec["runs"]) if given else collect(folders)
    parts = runs.groupby("dataset", sort=False)
    summary = pd.concat([summarise(part, spec["last"][dataset], spec["metrics"]) for dataset, part in parts])
    table = tidy(summary, spec["cells"], published, spec["ranks"], spec["metrics"])
    write_text(snakemake.output.csv, table.to_csv(index=False))
    name = f"tab:{snakemake.wildcards.experiment}"
    shape = (table, spec["orientation"], spec["labels"], add_quoted(spec["title"], spec["quoted"], spec["labels"]))
    write_text(snakemake.output.md, to_markdown(*shape))
    write_text(snakemake.output.tex, to_latex(*shape, name))
    write_text(snakemake.output.md_runs, to_markdown(*shape, spread="std_runs"))
    write_text(snakemake.output.tex_runs, to_latex(*shape, f"{name}_runs", spread="std_runs"))
