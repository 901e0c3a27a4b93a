"""Make the noise of one dataset, noise and seed, and write it with its manifest."""

from pathlib import Path

from warlab.common.files import read_arrays, read_json, write_arrays, write_json
from warlab.noise import needs
from warlab.noise.base import Wanted
from warlab.noise.make import make_noise
from warlab.pipeline.script import job

with job(snakemake.log[0]):
    data, names = Path(snakemake.input.data), snakemake.wildcards
    meta = read_json(data.with_suffix(".json"))
    wanted = Wanted(
        names.dataset, names.noise, int(names.seed), meta["class_names"], meta["data"], snakemake.params.settings
    )
    files = {role: Path(snakemake.input[role]) for role in needs(names.noise)}
    arrays, manifest = make_noise(wanted, read_arrays(data), files)
    write_arrays(snakemake.output.labels, **arrays)
    write_json(snakemake.output.manifest, manifest)
