"""Inputs and parameters of the rules for figures and the report."""

import os
from functools import cached_property
from pathlib import Path
from typing import Any

from warlab import data, nets
from warlab.artefacts.run_config import Options
from warlab.common.readings import LAST
from warlab.config.reductions import reductions
from warlab.ids import RunId
from warlab.pipeline.run_jobs import TrainJobs
from warlab.pipeline.table_jobs import TableJobs
from warlab.pipeline.workflow import JobGroup, Wildcards, Workflow
from warlab.reporting import figures
from warlab.reporting.figures import Design, declaration, published_cells, why_not
from warlab.reporting.page import category
from warlab.reporting.read.predictions import FILE as PREDICTIONS

_TRAINED_HERE = ("data", "costs", "activations", "tiles", "maps", "audit")  # what given runs come without


class FigureJobs(JobGroup):
    def inputs(self, wildcards: Wildcards) -> dict[str, list[str]]:
        """The files that a figure needs, and the descriptions of the data, which its caption may mention."""
        flow, paths, needs = self.flow, self.paths, declaration(wildcards.figure).needs
        noise = flow.unless_given(flow.shared_files(paths.noise_json)) if "noise" in needs else []
        return {
            **{kind: self.files[kind] for kind in needs},
            "meta": flow.unless_given(flow.of_datasets(paths.data_json)),
            "descriptions": noise + (flow.shared_files(paths.cost, paths.cost_json) if "costs" in needs else []),
        }

    @cached_property
    def files(self) -> dict[str, list[str]]:
        """The files of everything that a figure may name in NEEDS."""
        flow, paths = self.flow, self.paths
        return {
            "runs": [paths.runs],
            "noise": flow.unless_given(flow.shared_files(paths.noise)),
            "costs": flow.shared_files(paths.verified),
            "data": flow.of_datasets(paths.data, flow.with_images),
            "tiles": flow.of_datasets(paths.data, flow.tiles),
            "published": [flow.own_file("config/published.csv")],
            "statistics": [paths.statistics],
            "toy": [paths.toy],
            "audit": [f"{paths.audit_table}.csv"],
            "activations": flow.of_runs(paths.activations, self.pictured()),
            "maps": TrainJobs(flow).maps(),
        }

    @cached_property
    def _pictured_datasets(self) -> list[str]:
        """The datasets that the figures of activations ask for."""
        declared = [declaration(name) for name in figures.names()]
        return sorted({str(figure.asks["dataset"]) for figure in declared if "activations" in figure.needs})

    def pictured(self) -> list[RunId]:
        """The run whose activations are drawn, if a network has a method features(): preferably one on clean labels and
        with the reference of the tables, which is cross entropy."""
        study, datasets = self.study, self._pictured_datasets
        references = {method for entry in study.experiments.values() for method in entry.get("reference", [])}
        runs = [run for run in study.plan.runs if run.dataset in datasets and nets.has_features(run.net)]
        return sorted(runs, key=lambda run: (run.noise != "clean", run.method not in references, run.seed))[:1]

    def caption_file(self, wildcards: Wildcards, output: Any) -> Path:
        """Where Snakemake's report finds the caption of a figure."""
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
            {name: [cell.cell for cell in study.plan.cells(name)] for name in study.plan.tables},
            [run.cell for run in study.plan.runs],
            published_cells(flow.root / "config" / "published.csv"),
            self._absent(),
            not flow.given or "seconds" in flow.given.read_text().partition("\n")[0].split(","),
        )

    def _absent(self) -> dict[str, str]:
        """What this study cannot give to figures, with the reason."""
        if self.flow.given:
            return {kind: f"given runs come without {kind}" for kind in _TRAINED_HERE}
        pictured = " or ".join(data.get(name).title for name in self._pictured_datasets)
        reasons = {
            "data": "no dataset has single images",
            "tiles": "no dataset has tiles",
            "activations": f"no network of {pictured} has a method features()",
        }
        return {kind: why for kind, why in reasons.items() if not self.files[kind]}

    def left_out(self) -> dict[str, str]:
        """The tables and figures that this scale cannot show, with the reason."""
        study = self.study
        empty = [name for name in study.scale["experiments"] if not study.plan.cells(name)]
        tables = {f"table {name}": "the scale has no dataset of it" for name in empty}
        reasons = {name: why_not(name, self.design) for name in figures.names()}
        return tables | {f"figure {name}": why for name, why in reasons.items() if why}


class ReportJobs(JobGroup):
    def __init__(self, flow: Workflow, tables: TableJobs, figures: FigureJobs) -> None:
        super().__init__(flow)
        self.tables, self.figures = tables, figures

    def inputs(self, wildcards: Wildcards) -> dict[str, list[str]]:
        """The results of the runs and the descriptions of their data, noise and costs; given runs come without them.

        This is a function and not a list because Snakemake hashes a whole list for each of its files when another input
        is named by its rule."""
        flow, paths = self.flow, self.paths
        files = {
            "results": flow.of_runs(paths.result),
            "data": flow.of_datasets(paths.data_json),
            "noise": flow.shared_files(paths.noise),
            "costs": flow.shared_files(paths.verified),
            "descriptions": flow.shared_files(paths.noise_json) + flow.shared_files(paths.cost, paths.cost_json),
        }
        return {name: flow.unless_given(listed) for name, listed in files.items()}

    def spec(self) -> Options:
        """Titles, layouts, names, hyper-parameters and their sources: what no input file of the report says."""
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
            "aliases": self.flow.all_aliases(),
            "last": self.tables.epochs_read(),
            "tested_on": self.tables.tested_on(),
            "headline": {
                "last": min([study.experiments[name].get("last", LAST) for name in first], default=LAST),
                "trained_as": [alias for name in first for alias in study.plan.aliases(name)],
            },
            "left_out": figures.left_out(),
            "labels": study.labels,
            "metrics": [study.experiments[name]["metric"] for name in study.plan.tables],
            "reductions": reductions(study),
            "hyperparameters": study.numbers.table(),
            "committed": self.committed(),
            "logs": {str(run): self.paths.train_log.format(**vars(run)) for run in study.plan.runs},
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
        return {"folder": folder, "link": os.path.relpath(self.flow.root / folder, Path(self.paths.report).parent)}

    def committed_files(self) -> list[str]:
        """Return evidence.json, runs.csv and, if there are any, the test predictions of the committed evidence."""
        folder = self.committed().get("folder")
        files = [f"{folder}/{name}" for name in ("evidence.json", "runs.csv", PREDICTIONS)] if folder else []
        return [self.flow.own_file(file) for file in files if (self.flow.root / file).is_file()]
