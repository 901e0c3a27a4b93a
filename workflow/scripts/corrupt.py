"""Draw the noisy labels of one dataset, noise and seed, and write them with their manifest."""

from pathlib import Path

from warlab.files import read_arrays, read_json, write_arrays, write_json
from warlab.noise.inject import noisy_labels
from warlab.script import job

with job(snakemake.log[0]):
    data = Path(snakemake.input.data)
    meta = read_json(data.with_suffix(".json"))
    labels, manifest = noisy_labels(
        read_arrays(data)["train_y"],
        dataset=snakemake.wildcards.dataset,
        noise=snakemake.wildcards.noise,
        seed=int(snakemake.wildcards.seed),
        class_names=meta["class_names"],
        data=meta["data"],
    )
    write_arrays(snakemake.output.labels, labels=labels)
    write_json(snakemake.output.manifest, manifest)
