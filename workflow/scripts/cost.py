"""Make one ground cost and write it with its provenance."""

from pathlib import Path

from warlab.common.files import read_json, write_json, write_text
from warlab.noise.replaced import noisy_images, noisy_vectors
from warlab.ot.costfile import write_cost
from warlab.ot.costs import CostInputs, make_cost
from warlab.pipeline.script import job

with job(snakemake.log[0]):
    given = snakemake.input
    meta = read_json(Path(given.data).with_suffix(".json"))
    images = vectors = labels = None
    if given.get("features"):
        vectors, labels = noisy_vectors(Path(given.features), Path(given.noise), given.get("other_features"))
    elif given.get("noise"):
        images, labels = noisy_images(Path(given.data), Path(given.noise), given.get("images"))
    settings = dict(snakemake.params.spec)
    inputs = CostInputs(meta["class_names"], meta["words"], images, labels, vectors)
    cost, provenance = make_cost(settings.pop("kind"), inputs, settings)
    provenance |= {key: meta[key] for key in ("dataset", "class_names", "data")} | {"key": snakemake.wildcards.cost}
    if given.get("features"):
        provenance["features"] = read_json(Path(given.features).with_suffix(".json"))
    write_text(snakemake.output.cost, write_cost(cost, meta["class_names"]))
    write_json(snakemake.output.provenance, provenance)
