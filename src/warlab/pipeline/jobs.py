"""What the rules ask, one object for each of their files; rules/common.smk makes it once."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from warlab.config.claim_entries import check_entries, read_entries
from warlab.config.study import load_study
from warlab.errors import WarlabError
from warlab.pipeline.audit_jobs import AuditJobs
from warlab.pipeline.data_jobs import DataJobs
from warlab.pipeline.figure_jobs import FigureJobs
from warlab.pipeline.paths import Paths
from warlab.pipeline.report_jobs import ReportJobs
from warlab.pipeline.table_jobs import TableJobs
from warlab.pipeline.train_jobs import TrainJobs
from warlab.pipeline.workflow import Workflow, given_runs


@dataclass(frozen=True, eq=False, repr=False)
class Jobs:
    flow: Workflow
    data: DataJobs
    train: TrainJobs
    audit: AuditJobs
    tables: TableJobs
    figures: FigureJobs
    report: ReportJobs


def load_jobs(
    config: dict[str, object], rules: str, ancient: Callable[[str], str], tell: Callable[[str], object]
) -> Jobs:
    """Of a configuration; `rules` is the folder of the rules. Each mistake is a WarlabError of one sentence."""
    if "://" in rules:
        raise WarlabError(
            "warlab reads files of its repository and needs its Python package: clone the repository, "
            "install it (make setup) and give the path of workflow/Snakefile to `module`."
        )
    root = Path(rules).resolve().parent
    study = load_study(config, root)
    check_entries(read_entries(root / "config" / "claims.yaml"), study)
    flow = Workflow(study, root, Paths.of(study), given_runs(study))
    train, audit, tables = TrainJobs(flow, ancient), AuditJobs(flow), TableJobs(flow, tell)
    figures = FigureJobs(flow, train)
    return Jobs(flow, DataJobs(flow), train, audit, tables, figures, ReportJobs(flow, tables, figures))
