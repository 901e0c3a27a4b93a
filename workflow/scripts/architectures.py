"""List the layers of each network."""

from pathlib import Path

import pandas as pd
import torch

from warlab import nets
from warlab.common.files import read_json, write_text
from warlab.nets._describe import describe
from warlab.pipeline.script import job
from warlab.reporting.tables.plain import to_latex, to_markdown

COLUMNS = ["network", "input", "layer", "output", "parameters"]

with job(snakemake.log[0]):
    meta = {entry["dataset"]: entry for entry in map(read_json, map(Path, snakemake.input.meta))}
    rows = []
    for spec in snakemake.params.networks:
        data, patch = meta[spec["dataset"]], spec["patch"]
        shape = (data["shape"][0], patch, patch) if patch else tuple(data["shape"])  # of tiles a network sees patches
        net = nets.build(spec["net"], shape[0], len(data["class_names"]), **spec["settings"])
        nets.check_images(net, spec["net"], torch.zeros(1, *shape))
        seen = {"network": spec["net"], "input": f"{spec['dataset']}: {' × '.join(map(str, shape))}"}
        rows += [seen | row for row in describe(net, shape)]
    caption = "Networks as this scale builds them, layer by layer, read off the networks themselves"
    write_text(snakemake.output.csv, pd.DataFrame(rows, columns=COLUMNS).to_csv(index=False))
    write_text(snakemake.output.md, to_markdown(rows, COLUMNS, caption))
    write_text(snakemake.output.tex, to_latex(rows, COLUMNS, caption, "tab:architectures"))
