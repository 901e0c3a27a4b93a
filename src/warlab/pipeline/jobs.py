"""What the rules for figures and the report ask, and all that rules ask together: rules/common.smk loads it once."""

import os
from collections.abc import Callable
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

from warlab import data, nets
from warlab.artefacts.run_config import Options
from warlab.common.files import read_json, write_json
from warlab.common.progress import duration
from warlab.common.readings import LAST
from warlab.common.wording import several
from warlab.config.claim_list import check_claims, read_claims
from warlab.config.reductions import reductions, used_settings
from warlab.config.study import load_study, scale_file
from warlab.errors import WarlabError
from warlab.ids import RunId
from warlab.pipeline.data_jobs import DataJobs
from warlab.pipeline.given_runs import find_given_runs
from warlab.pipeline.paths import Paths
from warlab.pipeline.run_jobs import AuditJobs, RunJobs
from warlab.pipeline.run_times import load_run_times
from warlab.pipeline.sources import find_source
from warlab.pipeline.table_jobs import TableJobs
from warlab.pipeline.workflow import JobGroup, Wildcards, Workflow
from warlab.reporting import figures
from warlab.reporting.figures import Design, declaration, published_cells, why_not
from warlab.reporting.page import category
from warlab.reporting.read.predictions import FILE as PREDICTIONS

_NOT_GIVEN = ("data", "costs", "activations", "tiles", "maps", "audit")  # what given runs come without


class FigureJobs(JobGroup):
    def needs(self, kind: str) -> Callable[[Wildcards], bool]:
        """Return a condition: whether a figure names this kind of input in its NEEDS."""
        return lambda wildcards: kind in declaration(wildcards.figure).needs

    @cached_property
    def _pictured_datasets(self) -> list[str]:
        """The datasets that the figures of activations ask for."""
        declared = [declaration(name) for name in figures.names()]
        return sorted({str(figure.asks["dataset"]) for figure in declared if "activations" in figure.needs})

    def pictured(self, wildcards: Wildcards | None = None) -> list[RunId]:
        """Return the run whose activations are drawn, if a network has a method features(): preferably one on clean
        labels, with the reference of the tables, which is cross entropy."""
        study, datasets = self.study, self._pictured_datasets
        references = {method for entry in study.experiments.values() for method in entry.get("reference", [])}
        runs = [run for run in study.plan.runs if run.dataset in datasets and nets.has_features(run.net)]
        return sorted(runs, key=lambda run: (run.noise != "clean", run.method not in references, run.seed))[:1]

    def raw(self, wildcards: Wildcards) -> list[str]:
        """Return the folder of the raw files of each dataset with single images."""
        return [f"{name}/{find_source(self.study, name).folder}" for name in self.flow.image_datasets]

    def specs(self, wildcards: Wildcards) -> dict[str, Options]:
        """Return the part of each of these datasets that the scale uses, if the figure shows images."""
        names = self.flow.image_datasets if self.needs("data")(wildcards) else []
        return {name: asdict(self.study.settings.data_spec(name)) for name in names}

    def caption_file(self, wildcards: Wildcards, output: Any) -> Path:
        """Return the file in which Snakemake's report finds the caption of a figure."""
        return Path(output.caption)

    def category(self, wildcards: Wildcards) -> str:
        return category(declaration(wildcards.figure).section)

    def title(self, wildcards: Wildcards) -> dict[str, str]:
        return {"shows": declaration(wildcards.figure).title}

    # ---- which figures

    @cached_property
    def names(self) -> list[str]:
        """The figures that can be drawn for this study."""
        return [name for name in figures.names() if not why_not(name, self.design)]

    @cached_property
    def design(self) -> Design:
        """What the study has that figures may ask for."""
        flow, study = self.flow, self.study
        return Design(
            study.plan.tables,
            {run.cell for run in study.plan.runs}
            | {c.cell for name in study.plan.tables for c in study.plan.cells(name)},
            published_cells(flow.root / "config" / "published.csv"),
            self._absent(),
            flow.given.columns if flow.given else None,
        )

    def _absent(self) -> dict[str, str]:
        """Return what this study cannot give to figures, with the reason."""
        if self.flow.given:
            return {kind: f"given runs come without {kind}" for kind in _NOT_GIVEN}
        pictured = " or ".join(data.get(name).title for name in self._pictured_datasets)
        reasons = {
            "data": (self.flow.image_datasets, "no dataset has single images"),
            "tiles": (self.flow.tile_datasets, "no dataset has tiles"),
            "activations": (self.pictured(), f"no network of {pictured} has a method features()"),
        }
        return {kind: reason for kind, (present, reason) in reasons.items() if not present}

    def left_out(self) -> dict[str, str]:
        """Return the tables and figures that this scale cannot show, with the reason."""
        study = self.study
        empty = [name for name in study.scale["experiments"] if not study.plan.cells(name)]
        tables = {f"table {name}": "the scale has no dataset of it" for name in empty}
        reasons = {name: why_not(name, self.design) for name in figures.names()}
        return tables | {f"figure {name}": why for name, why in reasons.items() if why}


class ReportJobs(JobGroup):
    def __init__(self, flow: Workflow, tables: TableJobs, figures: FigureJobs) -> None:
        super().__init__(flow)
        self.tables, self.figures = tables, figures

    def spec(self) -> Options:
        """Return titles, layouts, names, hyperparameters and their sources: what no input file of the report says."""
        study, figures = self.study, self.figures
        first = study.plan.tables[:1]  # the report begins with this table
        return {
            "scale": study.name,
            "description": study.scale["description"],
            "tables": {name: self._table(name) for name in study.plan.tables},
            "figures": {
                name: {"title": declaration(name).title, "section": declaration(name).section}
                for name in self.figures.names
            },
            "last": self.tables.epochs_read(),
            "tested_on": self.tables.tested_on(),
            "headline": {"last": min([study.experiments[name].get("last", LAST) for name in first], default=LAST)},
            "left_out": figures.left_out(),
            "labels": study.labels,
            "metrics": [study.experiments[name]["metric"] for name in study.plan.tables],
            "reductions": reductions(study),
            "hyperparameters": used_settings(study),
            "committed": self.committed(),
            "logs": {str(run): self.flow.paths.train_log(run) for run in study.plan.runs},
        }

    def _table(self, name: str) -> dict[str, str]:
        entry = self.study.experiments[name]
        return {"title": entry["title"], "orientation": entry["orientation"], "section": self.tables.section(name)}

    def committed(self) -> dict[str, str]:
        """Return the folder that the scale names under `evidence` and a link to it from the page; an installed package
        has no docs."""
        folder = self.study.scale.get("evidence", "")
        if not folder or not (self.flow.root / folder / "evidence.json").is_file():
            return {}
        return {"folder": folder, "link": os.path.relpath(self.flow.root / folder, self.flow.paths.results)}

    def committed_files(self) -> list[str]:
        """Return evidence.json, runs.csv and, if there are any, the test predictions of the committed evidence."""
        folder = self.committed().get("folder")
        files = [f"{folder}/{name}" for name in ("evidence.json", "runs.csv", PREDICTIONS)] if folder else []
        return [self.flow.own_file(file) for file in files if (self.flow.root / file).is_file()]


class Jobs:
    def __init__(self, flow: Workflow) -> None:
        self.flow = flow
        self.data = DataJobs(flow)
        self.runs = RunJobs(flow)
        self.audits = AuditJobs(flow)
        self.tables = TableJobs(flow)
        self.figures = FigureJobs(flow)
        self.page = ReportJobs(flow, self.tables, self.figures)
        self.owner = Path(flow.paths.results, ".scale.json")  # whose results the folder has
        self.scale = scale_file(flow.study.config["scale"], flow.root / "config" / "scales").resolve()

    def check_owner(self) -> None:
        """Refuse a scale if the results in its folder are those of another file with the same name."""
        other = Path(read_json(self.owner)["file"]) if self.owner.is_file() else self.scale
        if other.is_file() and other.read_bytes() != self.scale.read_bytes() and other != self.scale:
            raise WarlabError(
                f"{self.owner.parent} has the results of {other}, another scale with the name of {self.scale}; rename "
                "one of the two files, or choose another results_root."
            )

    def start(self) -> None:
        """Record whose results the folder gets, and say how much there is to train. Snakemake calls it before the first
        job, but not in a dry run."""
        write_json(self.owner, {"file": str(self.scale)})
        runs, flow = self.runs.trained(), self.flow
        left = [run for run in runs if not Path(flow.paths.run(run), "result.json").is_file()]
        if left:
            times = load_run_times(flow.study, flow.root)
            seconds = duration(sum(map(times.seconds_of_run, left)))
            until = times.unknown(left)
            about = (
                f"; their time is unknown until {until}"
                if until
                else f": about {seconds} one after the other, by {times.source}"
            )
            flow.tell(
                f"{flow.study.name}: {several(len(runs), 'training')}, {len(left)} without a result{about}. "
                "`warlab status` shows how far they are."
            )


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
    jobs = Jobs(Workflow(study, root, Paths.of(study), find_given_runs(study, tell), tell))
    jobs.check_owner()
    return jobs
