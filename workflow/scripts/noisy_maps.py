"""Draw the noisy labels of the training tiles in the colours of the dataset."""

from pathlib import Path

from warlab.common.files import read_arrays, read_json
from warlab.pipeline.script import job
from warlab.reporting.images.label_maps import write_maps

with job(snakemake.log[0]):
    data = Path(snakemake.input.data)
    labels, meta = read_arrays(Path(snakemake.input.noise))["labels"], read_json(data.with_suffix(".json"))
    write_maps(Path(snakemake.output.maps), labels, read_arrays(data)["train_sizes"], "train", meta)
