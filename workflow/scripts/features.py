"""Compute the features of the training images with a pre-trained network."""

from pathlib import Path

from warlab import data
from warlab.common.files import digest, read_json, write_arrays, write_json
from warlab.data.auxiliary import _weights
from warlab.data.in_place import update_pointer
from warlab.engine.device import device_settings
from warlab.engine.features import image_features
from warlab.engine.lock import gpu_lease
from warlab.pipeline.script import files_by_role, job

names = snakemake.wildcards
with (
    job(snakemake.log[0], f"{names.dataset} {names.network}"),
    gpu_lease(snakemake.resources.get("gpu_slots", 1)),
):
    receipts = {kind: Path(file) for kind, file in files_by_role(snakemake.input).items()}
    fetched = read_json(receipts["weights"])
    # The network sees the original images, not those that the scale pools for training.
    spec = {**snakemake.params.spec, "pool": 1}
    dataset, raw = data.get(names.dataset), receipts["receipt"].parent
    update_pointer(dataset, spec["source"], raw, snakemake.config.get("local_data", {}).get(names.dataset))
    prepared = dataset.prepare(raw, spec)
    device_settings(snakemake.threads)
    content = _weights.read(names.network, receipts["weights"])
    features = image_features(prepared.arrays["train_x"], names.network, content, int(names.size))
    write_arrays(snakemake.output.features, features=features)
    provenance = {
        "network": names.network,
        "size": int(names.size),
        "images": prepared.about.shape,
        "data": prepared.about.data,
        "weights": {"data": fetched["data"], "origin": fetched["origin"], "sha256": digest(content)},
    }
    write_json(snakemake.output.provenance, provenance)
