"""What the rules for tables, timing, statistics and claims ask."""

import shutil
from functools import cached_property

from warlab import data
from warlab.artefacts.run_config import Options, TimingSpec
from warlab.common.readings import LAST
from warlab.ids import RunId
from warlab.methods import METHODS
from warlab.nets import NETS
from warlab.pipeline.workflow import JobGroup, Wildcards
from warlab.reporting.page import category


class TableJobs(JobGroup):
    # ---- tables of results

    def runs(self, wildcards: Wildcards) -> list[RunId]:
        """Return the runs of a table: it is not made again when others change. Finished runs are in one file."""
        return self._runs(wildcards.experiment) if self.flow.given is None else []

    def _runs(self, experiment: str) -> list[RunId]:
        return sorted(set(self.study.plan.cells(experiment)))

    def spec(self, wildcards: Wildcards) -> Options:
        """Return content and layout of a table, without the numbers."""
        study, name = self.study, wildcards.experiment
        entry, ran = study.experiments[name], {cell.method for cell in study.plan.cells(name)}
        return {
            "title": entry["title"],
            "metrics": entry.get("metrics", [entry["metric"]]),
            "last": {cell.dataset: self.epochs_read().get(cell.dataset, LAST) for cell in study.plan.cells(name)},
            "quoted": [method for method in study.plan.quoted(name) if method not in ran],
            "orientation": entry["orientation"],
            "ranks": entry.get("ranks", []),
            "cells": study.plan.layout(name),
            "runs": [[*run.cell, run.seed] for run in self._runs(name)],
            "labels": study.labels,
        }

    def title(self, wildcards: Wildcards) -> dict[str, str]:
        return {"shows": self.study.experiments[wildcards.experiment]["title"]}

    def section(self, name: str) -> str:
        """Return the section of the report that shows a table."""
        return self.study.experiments[name].get("section", "results")

    def category(self, wildcards: Wildcards) -> str:
        return category(self.section(wildcards.experiment))

    # ---- other tables

    def timed(self, wildcards: Wildcards) -> list[str]:
        """Return the datasets and networks whose steps are timed, such as cifar10/cnn9; none with finished runs."""
        timed = self.study.plan.timed if self.flow.given is None else []
        return list(dict.fromkeys(f"{cell.dataset}/{cell.net}" for cell in timed))

    def timing_settings(self, wildcards: Wildcards) -> TimingSpec:
        return self.study.plan.timing(wildcards.dataset, wildcards.net)

    def timing_code(self, wildcards: Wildcards) -> str:
        methods = self.study.plan.timing(wildcards.dataset, wildcards.net)["methods"]
        files = sorted({entry["file"] for entry in methods.values()})
        return self.flow.code("time_steps", *map(METHODS.module, files), NETS.module(wildcards.net))

    @cached_property
    def _first_dataset(self) -> dict[str, str]:
        """network → the first of the datasets that it is trained on"""
        return dict(sorted({run.net: run.dataset for run in reversed(self.study.plan.runs)}.items()))

    def networks(self) -> list[Options]:
        settings = self.study.settings
        return [
            {
                "net": net,
                "dataset": dataset,
                "settings": settings.untrained_net(net, dataset),
                "patch": settings.training(dataset).get("patch"),
            }
            for net, dataset in self._first_dataset.items()
        ]

    def datasets_of_networks(self, wildcards: Wildcards) -> list[str]:
        return sorted(set(self._first_dataset.values()))

    def architectures_code(self) -> str:
        return self.flow.code("architectures", *map(NETS.module, self._first_dataset))

    @cached_property
    def latex(self) -> bool:
        """Whether the tables can be typeset."""
        if not (program := shutil.which("pdflatex")):
            self.flow.tell("pdflatex not found: skipping tables.pdf (the .tex files are still written).")
        return bool(program)

    # ---- statistics and claims

    def compared(self) -> dict[str, Options]:
        """Return the experiments whose methods are compared, without methods that are only quoted."""
        study = self.study
        ran = {name: {cell.method for cell in study.plan.cells(name)} for name in study.plan.tables}
        return {
            name: {
                "title": study.experiments[name]["title"],
                "metric": study.experiments[name]["metric"],
                "cells": [cell for cell in study.plan.layout(name) if cell[3] in ran[name]],
            }
            for name in study.plan.tables
        }

    def epochs_read(self) -> dict[str, int]:
        """Return dataset → how many of the last epochs every table averages, where that is not `LAST`."""
        entries = [entry for entry in self.study.experiments.values() if "last" in entry]
        return {dataset: entry["last"] for entry in entries for dataset in entry["datasets"]}

    def tested_on(self) -> dict[str, int]:
        """Return dataset → number of test images; a dataset of tiles has none"""
        specs = {name: self.study.settings.data_spec(name) for name in self.flow.image_datasets}
        whole = {name: data.get(name).images[1] if specs[name].source == "real" else 0 for name in specs}
        return {name: specs[name].test or whole[name] for name in specs}
