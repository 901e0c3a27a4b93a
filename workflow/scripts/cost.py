"""Make one ground cost and write it with its provenance."""

from pathlib import Path

from warlab.files import read_json, write_json, write_text
from warlab.noise.replaced import noisy_images
from warlab.ot.costfile import write_cost
from warlab.ot.costs import CostInputs, make_cost
from warlab.script import job

with job(snakemake.log[0]):
    data = Path(snakemake.input.data)
    meta = read_json(data.with_suffix(".json"))
    noise, other = snakemake.input.get("noise"), snakemake.input.get("images")
    images, labels = noisy_images(data, Path(noise), other) if noise else (None, None)
    inputs = CostInputs(class_names=meta["class_names"], words=meta["words"], images=images, labels=labels)
    settings = dict(snakemake.params.spec)
    cost, provenance = make_cost(settings.pop("kind"), inputs, settings)
    provenance |= {key: meta[key] for key in ("dataset", "class_names", "data")} | {"key": snakemake.wildcards.cost}
    write_text(snakemake.output.cost, write_cost(cost, meta["class_names"]))
    write_json(snakemake.output.provenance, provenance)
