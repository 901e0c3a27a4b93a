"""Train small networks in the plane and write the arrays that two figures show."""

from warlab.common.files import write_arrays
from warlab.engine.device import device_settings
from warlab.pipeline.script import job
from warlab.war.toy import compute

with job(snakemake.log[0]):
    device_settings(snakemake.threads)
    write_arrays(snakemake.output.toy, **compute())
