"""Draw the noisy labels of the training tiles in the colours of the dataset."""

from pathlib import Path

from warlab.artefacts.labelled_data import DataDescription
from warlab.common.files import read_arrays
from warlab.pipeline.script import job
from warlab.reporting.images.label_maps import write_maps

with job(snakemake.log[0]):
    data = Path(snakemake.input.data)
    labels, sizes = read_arrays(Path(snakemake.input.noise))["labels"], read_arrays(data, "train_sizes")["train_sizes"]
    write_maps(Path(snakemake.output.maps), labels, sizes, "train", DataDescription.load(data))
