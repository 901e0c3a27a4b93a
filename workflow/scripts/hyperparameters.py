"""List every number of the configuration with its source."""

import pandas as pd

from warlab.common.files import write_text
from warlab.pipeline.script import job
from warlab.reporting.tables.plain import hyperparameter_rows, to_latex, to_markdown

COLUMNS = ["section", "of", "setting", "dataset", "value", "unit", "source"]

with job(snakemake.log[0]):
    rows = hyperparameter_rows(snakemake.params.numbers)
    caption = (
        "Hyperparameters with their sources, for the paper's number of epochs; what counts epochs shrinks in "
        "proportion where a scale trains for fewer"
    )
    write_text(snakemake.output.csv, pd.DataFrame(rows, columns=COLUMNS).to_csv(index=False))
    write_text(snakemake.output.md, to_markdown(rows, COLUMNS, caption))
    write_text(snakemake.output.tex, to_latex(rows, COLUMNS, caption, "tab:hyperparameters"))
