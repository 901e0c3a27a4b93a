"""Inputs and parameters of the rules for tables, timing, statistics and claims."""

import shutil
from functools import cached_property
from pathlib import Path

from warlab import data
from warlab.artefacts.run_config import Options
from warlab.common.readings import LAST
from warlab.methods import METHODS
from warlab.nets import NETS
from warlab.pipeline.workflow import JobGroup, Wildcards
from warlab.reporting.page import category


class TableJobs(JobGroup):
    # ---- tables of results

    def inputs(self, wildcards: Wildcards) -> dict[str, str | list[str]]:
        """Only the runs of this table, so that it is not made again when others change."""
        flow, paths = self.flow, self.paths
        if flow.given:
            return {"runs": paths.runs}
        runs = flow.table_runs(wildcards.experiment)
        return {"metrics": flow.of_runs(paths.metrics, runs), "results": flow.of_runs(paths.result, runs)}

    def spec(self, wildcards: Wildcards) -> Options:
        """Content and layout of a table, without the numbers."""
        study, name = self.study, wildcards.experiment
        entry, ran = study.experiments[name], {cell.method for cell in study.plan.cells(name)}
        return {
            "title": entry["title"],
            "metrics": entry.get("metrics", [entry["metric"]]),
            "last": entry.get("last", LAST),
            "quoted": [method for method in study.plan.quoted(name) if method not in ran],
            "orientation": entry["orientation"],
            "ranks": entry.get("ranks", []),
            "cells": study.plan.layout(name),
            "trained_as": study.plan.aliases(name),
            "runs": [[*run.cell, run.seed] for run in self.flow.table_runs(name)],
            "labels": study.labels,
        }

    def title(self, wildcards: Wildcards) -> dict[str, str]:
        return {"shows": self.study.experiments[wildcards.experiment]["title"]}

    def section(self, name: str) -> str:
        """The section of the report that shows a table."""
        return self.study.experiments[name].get("section", "results")

    def category(self, wildcards: Wildcards) -> str:
        return category(self.section(wildcards.experiment))

    # ---- other tables; with given runs there are no data and nothing is timed

    def timing_files(self) -> list[str]:
        return list(dict.fromkeys(self.flow.of_runs(self.paths.timing, self.study.plan.timed)))

    def timing_code(self, wildcards: Wildcards) -> str:
        methods = self.study.plan.timing(wildcards.dataset, wildcards.net)["methods"]
        files = sorted({entry["file"] for entry in methods.values()})
        return self.flow.code("time_steps", *map(METHODS.module, files), NETS.module(wildcards.net))

    def timing(self, *endings: str) -> list[str]:
        """The table of times in these formats, at scales that time anything."""
        files = [f"{self.paths.timing_table}.{ending}" for ending in endings]
        return self.flow.unless_given(files) if self.study.plan.timed else []

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

    def networks_data(self) -> list[str]:
        """The descriptions of the networks' datasets."""
        return self.flow.of_datasets(self.paths.data_json, sorted(set(self._first_dataset.values())))

    def architectures_code(self) -> str:
        return self.flow.code("architectures", *map(NETS.module, self._first_dataset))

    def architectures(self, *endings: str) -> list[str]:
        return self.flow.unless_given(f"{self.paths.architectures}.{ending}" for ending in endings)

    @cached_property
    def typeset(self) -> list[str]:
        """The PDF of all tables, if LaTeX is installed."""
        if shutil.which("pdflatex"):
            return [self.paths.all_tables]
        self.flow.tell("No pdflatex here: tables.pdf is left out, the .tex files stand.")
        return []

    # ---- statistics and claims

    def compared(self) -> dict[str, Options]:
        """The experiments whose methods are compared; methods that are only quoted have no runs and are left out."""
        study = self.study
        ran = {name: {cell.method for cell in study.plan.cells(name)} for name in study.plan.tables}
        return {
            name: {
                "title": study.experiments[name]["title"],
                "metric": study.experiments[name]["metric"],
                "cells": [cell for cell in study.plan.layout(name) if cell[3] in ran[name]],
                "trained_as": study.plan.aliases(name),
            }
            for name in study.plan.tables
        }

    def kept_predictions(self) -> list[str]:
        """The file of all test predictions; given runs of older studies have none."""
        if self.flow.given is None:
            return [self.paths.all_predictions]
        file = self.flow.given.with_name(Path(self.paths.all_predictions).name)
        return [str(file)] if file.is_file() else []

    def epochs_read(self) -> dict[str, int]:
        """dataset → how many of the last epochs its table averages, where that is not `LAST`"""
        entries = [entry for entry in self.study.experiments.values() if "last" in entry]
        return {dataset: entry["last"] for entry in entries for dataset in entry["datasets"]}

    def tested_on(self) -> dict[str, int]:
        """dataset → number of test images; a dataset of tiles has none"""
        specs = {name: self.study.settings.data_spec(name) for name in self.flow.with_images}
        whole = {name: data.get(name).images[1] if specs[name].source == "real" else 0 for name in specs}
        return {name: specs[name].test or whole[name] for name in specs}
