"""Time training steps and write the seconds per method."""

from warlab.common.files import write_json
from warlab.engine.device import device_settings
from warlab.engine.lock import gpu_lease
from warlab.engine.provenance import provenance
from warlab.engine.timing import seconds_per_epoch
from warlab.pipeline.script import job

names = snakemake.wildcards
with (
    job(snakemake.log[0], f"timing {names.dataset} {names.net}"),
    gpu_lease(snakemake.resources.get("gpu_slots", 1), whole=True),  # another training would change the times
):
    device_settings(snakemake.threads)
    spec = snakemake.params.spec
    seconds = seconds_per_epoch(spec)
    result = {"dataset": names.dataset, "noise": "clean", "net": names.net, "spec": spec, "seconds": seconds}
    write_json(snakemake.output.times, result | {"provenance": provenance(0.0, 0.0)})
