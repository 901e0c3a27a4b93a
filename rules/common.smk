# `jobs` gives the rules their inputs, parameters and resources; see src/warlab/pipeline.
import gc

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from warlab.config.reading import check_files
from warlab.errors import WarlabError
from warlab.pipeline.jobs import load_jobs
from warlab.pipeline.paths import COST, FEATURES, LABELS, RUN, WILDCARDS
from warlab.pipeline.workflow import by_wildcards
from warlab.reporting.page import category

# Snakemake makes millions of objects that it never frees; searching them for cycles takes a tenth of the planning time.
gc.set_threshold(200_000, 20, 100)

try:
    check_files(workflow.configfiles)
    jobs = load_jobs(config, str(workflow.current_basedir), ancient, logger.info)
except WarlabError as error:
    raise WorkflowError(str(error))
flow, study, paths = jobs.flow, jobs.flow.study, jobs.flow.paths


wildcard_constraints:
    **WILDCARDS,
