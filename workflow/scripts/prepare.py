"""Cut the scale's part out of a dataset and write it as arrays with their description."""

from pathlib import Path

from warlab import data
from warlab.common.files import write_arrays, write_json
from warlab.data.prepare import prepare
from warlab.pipeline.script import job

with job(snakemake.log[0]):
    spec = {key: value for key, value in snakemake.params.spec.items() if key != "dataset"}
    raw = Path(snakemake.input.receipt).parent
    arrays, meta = prepare(data.get(snakemake.wildcards.dataset), raw, spec, snakemake.threads)
    write_arrays(snakemake.output.data, **vars(arrays))
    write_json(snakemake.output.meta, meta)
