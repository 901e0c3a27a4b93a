"""What the rules ask for inputs, parameters and resources; rules/common.smk loads it once."""

from collections.abc import Callable
from pathlib import Path

from warlab.config.claim_list import check_claims, read_claims
from warlab.config.study import load_study
from warlab.errors import WarlabError
from warlab.pipeline.data_jobs import DataJobs
from warlab.pipeline.given_runs import find_given_runs
from warlab.pipeline.paths import Paths
from warlab.pipeline.report_jobs import FigureJobs, ReportJobs
from warlab.pipeline.run_jobs import AuditJobs, RunJobs
from warlab.pipeline.table_jobs import TableJobs
from warlab.pipeline.workflow import Workflow


class Jobs:
    def __init__(self, flow: Workflow) -> None:
        self.flow = flow
        self.data = DataJobs(flow)
        self.runs = RunJobs(flow)
        self.audits = AuditJobs(flow)
        self.tables = TableJobs(flow)
        self.figures = FigureJobs(flow)
        self.page = ReportJobs(flow, self.tables, self.figures)


def load_jobs(config: dict[str, object], rules: str, tell: Callable[[str], object]) -> Jobs:
    """Read the configuration; `rules` is the folder of the rules. A mistake is a WarlabError of one sentence."""
    if "://" in rules:
        raise WarlabError(
            "warlab reads files of its repository and needs its Python package: clone the repository, "
            "install it (make setup) and give the path of workflow/Snakefile to `module`."
        )
    root = Path(rules).resolve().parent
    study = load_study(config, root)
    check_claims(read_claims(root / "config" / "claims.yaml"), study)
    return Jobs(Workflow(study, root, Paths.of(study), find_given_runs(study, tell), tell))
