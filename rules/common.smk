# What the rules cannot say by themselves: the study, and the objects that answer for it (src/warlab/pipeline).
import gc
import os
import sys

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

# The code of this repository, whatever is installed. Snakemake passes its search path on to the scripts of all jobs.
sys.path.insert(0, os.path.realpath(str(workflow.current_basedir.join("../src"))))

from warlab.pipeline.bare import allow_missing_packages, prefer_own_source

allow_missing_packages()
prefer_own_source()
from warlab.config.reading import check_files, expand_home
from warlab.config.reductions import used_settings
from warlab.errors import WarlabError
from warlab.pipeline.jobs import load_jobs
from warlab.pipeline.paths import WILDCARDS
from warlab.reporting.page import category

# Snakemake makes millions of objects that it never frees; searching them for cycles takes a tenth of the planning time.
gc.set_threshold(200_000, 20, 100)

try:
    check_files(workflow.configfiles)
    config.update(expand_home(config))  # jobs read paths from it
    jobs = load_jobs(config, str(workflow.current_basedir), logger.info)
except WarlabError as error:
    raise WorkflowError(str(error))
flow, study = jobs.flow, jobs.flow.study
data, runs, audits = jobs.data, jobs.runs, jobs.audits
tables, figures, page = jobs.tables, jobs.figures, jobs.page


container: config.get("container")  # for the jobs of all rules, with `--sdm apptainer`


onstart:
    jobs.start()


# The beginnings of all paths, which rules write in angle brackets; another workflow can redirect them.
pathvars:
    raw=flow.paths.raw,  # fetched files
    results=flow.paths.results,  # of this scale
    common=flow.paths.common,  # results that do not depend on the scale
    config=flow.own_file("config"),
    logs="<results>/logs",
    benchmarks="<results>/benchmarks",
    run="{dataset}/{noise}/{net}/{method}/seed{seed}",
    labels="{dataset}/{noise}/seed{seed}",
