"""List the settings of all runs: each value, what decides it, and its source."""

import pandas as pd

from warlab.common.files import write_text
from warlab.pipeline.script import job
from warlab.reporting.tables.plain import to_latex, to_markdown

COLUMNS = ["section", "of", "setting", "runs", "value", "layer", "source"]
IN_PRINT = [column for column in COLUMNS if column not in ("section", "layer")]  # a page is narrow

with job(snakemake.log[0]):
    rows = snakemake.params.settings
    caption = (
        "The settings of this study as its runs use them. A setting with several values has a row for each, with the "
        "runs in which it counts"
    )
    write_text(snakemake.output.csv, pd.DataFrame(rows, columns=COLUMNS).to_csv(index=False))
    write_text(snakemake.output.md, to_markdown(rows, COLUMNS, caption))
    write_text(snakemake.output.tex, to_latex(rows, IN_PRINT, caption, "tab:hyperparameters"))
