"""Make one ground cost and write it with its provenance."""

from pathlib import Path

from warlab.artefacts.labelled_data import DataDescription
from warlab.noise.open_set_images import noisy_samples
from warlab.ot.costs import make_cost
from warlab.ot.costs.base import CostInputs
from warlab.pipeline.script import job

with job(snakemake.log[0]):
    about, settings = DataDescription.load(snakemake.input.data), dict(snakemake.params.spec)
    inputs = CostInputs(
        about.class_names,
        about.words,
        **noisy_samples({role: Path(str(path)) for role, path in snakemake.input.items()}),
        dataset=about.dataset,
        data=about.data,
        key=snakemake.wildcards.cost,
    )
    make_cost(settings.pop("kind"), inputs, settings).save(snakemake.output.cost)
