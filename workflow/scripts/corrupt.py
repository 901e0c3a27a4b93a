"""Make the noisy labels of one dataset, noise and seed, and write them with their manifest."""

from pathlib import Path

from warlab.artefacts.labelled_data import PreparedData
from warlab.noise import make_noise, needs
from warlab.noise.kinds.base import NoiseRequest
from warlab.pipeline.script import files_by_role, job

with job(snakemake.log[0]):
    data, names = PreparedData.load(snakemake.input.data), snakemake.wildcards
    about, settings = data.about, snakemake.params.settings
    request = NoiseRequest(names.dataset, names.noise, int(names.seed), about.class_names, about.data, settings)
    inputs = files_by_role(snakemake.input)
    files = {role: Path(inputs[role]) for role in needs(names.noise)}
    make_noise(request, data.arrays, files).save(snakemake.output.labels)
