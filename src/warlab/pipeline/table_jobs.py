"""What the rules of tables, statistics, claims and times ask."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from warlab import data
from warlab.artefacts.run_config import Options, TimingSpec
from warlab.methods import METHODS
from warlab.nets import NETS
from warlab.pipeline.workflow import Wildcards, Workflow
from warlab.reporting.page import category

LAST = 10  # epochs that a table averages unless its experiment says otherwise


@dataclass(frozen=True, eq=False, repr=False)
class TableJobs:
    """`tell` shows a sentence in the terminal."""

    flow: Workflow
    tell: Callable[[str], object]

    # ---- tables of results

    def inputs(self, wildcards: Wildcards) -> dict[str, str | list[str]]:
        """The runs of one table, so that a change of others leaves it alone."""
        paths = self.flow.paths
        if self.flow.given:
            return {"runs": paths.runs}
        runs = self.flow.table_runs(wildcards.experiment)
        return {"metrics": self.flow.of_runs(paths.metrics, runs), "results": self.flow.of_runs(paths.result, runs)}

    def spec(self, wildcards: Wildcards) -> Options:
        """All that a table shows and how, apart from the numbers."""
        study, name = self.flow.study, wildcards.experiment
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
        return {"shows": self.flow.study.experiments[wildcards.experiment]["title"]}

    def section(self, name: str) -> str:
        """The section of the report in which a table stands."""
        if name == "ablations":
            return "adversarial"
        tiles = set(self.flow.study.experiments[name]["datasets"]) <= set(self.flow.tiles)
        return "maps" if tiles else "results"

    def category(self, wildcards: Wildcards) -> str:
        return category(self.section(wildcards.experiment))

    # ---- times

    def timing_files(self) -> list[str]:
        pairs = dict.fromkeys((cell.dataset, cell.net) for cell in self.flow.study.plan.timed)
        return [self.flow.paths.timing.format(dataset=dataset, net=net) for dataset, net in pairs]

    def timing_spec(self, wildcards: Wildcards) -> TimingSpec:
        return self.flow.study.plan.timing(wildcards.dataset, wildcards.net)

    def timing_code(self, wildcards: Wildcards) -> str:
        files = sorted({entry["file"] for entry in self.timing_spec(wildcards)["methods"].values()})
        return self.flow.code("time_steps", *map(METHODS.module, files), NETS.module(wildcards.net))

    # ---- networks

    @cached_property
    def _first_seen(self) -> dict[str, str]:
        """network → the first of the datasets that it sees"""
        return dict(sorted({run.net: run.dataset for run in reversed(self.flow.study.plan.runs)}.items()))

    def networks(self) -> list[Options]:
        settings = self.flow.study.settings
        return [
            {
                "net": net,
                "dataset": dataset,
                "settings": settings.untrained_net(net, dataset),
                "patch": settings.training(dataset).get("patch"),
            }
            for net, dataset in self._first_seen.items()
        ]

    def networks_see(self) -> list[str]:
        """The descriptions of these datasets."""
        return self.flow.of_datasets(self.flow.paths.data_json, sorted(set(self._first_seen.values())))

    def architectures_code(self) -> str:
        return self.flow.code("architectures", *map(NETS.module, self._first_seen))

    # ---- which of the other tables there are: given runs come without data and times

    def architectures(self, *endings: str) -> list[str]:
        return self.flow.unless_given(f"{self.flow.paths.architectures}.{ending}" for ending in endings)

    def timing(self, *endings: str) -> list[str]:
        """At scales that ask for it; with given runs nothing is measured."""
        files = [f"{self.flow.paths.timing_table}.{ending}" for ending in endings]
        return self.flow.unless_given(files) if self.flow.study.plan.timed else []

    @cached_property
    def typeset(self) -> list[str]:
        """The PDF of all tables where there is a LaTeX to make it."""
        if shutil.which("pdflatex"):
            return [self.flow.paths.all_tables]
        self.tell("No pdflatex here: tables.pdf is left out, the .tex files stand.")
        return []

    # ---- statistics and claims

    def compared(self) -> dict[str, Options]:
        """Every experiment of trainings. What is only quoted has no runs and is left out."""
        study = self.flow.study
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
        """What the runs say of each test image, in one file; given runs of older studies have none."""
        if self.flow.given is None:
            return [self.flow.paths.all_predictions]
        file = self.flow.given.with_name(Path(self.flow.paths.all_predictions).name)
        return [str(file)] if file.is_file() else []

    def epochs_read(self) -> dict[str, int]:
        """dataset → how many of the last epochs its table reads, where not ten"""
        entries = [entry for entry in self.flow.study.experiments.values() if "last" in entry]
        return {dataset: entry["last"] for entry in entries for dataset in entry["datasets"]}

    def tested_on(self) -> dict[str, int]:
        """dataset → number of test images, where one prediction is one image"""
        specs = {name: self.flow.study.settings.data_spec(name) for name in self.flow.with_images}
        whole = {name: data.get(name).images[1] if specs[name]["source"] == "real" else 0 for name in specs}
        return {name: specs[name]["test"] or whole[name] for name in specs}
