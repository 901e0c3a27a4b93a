"""What the rules of tables, statistics, claims and times ask."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypedDict

from warlab import data
from warlab.artefacts.run_config import Options, TimingSpec
from warlab.pipeline.workflow import Row, Wildcards, Workflow, row
from warlab.reporting.page.sections import category

Aliases = list[tuple[str, str, str, str, str]]  # dataset, noise, network, method in the table, method of the run
Cells = list[tuple[str, str, str, str]]  # dataset, noise, network, method
LAST = 10  # epochs that a table averages unless its experiment says otherwise


class TableSpec(TypedDict):
    """All that a table shows and how, apart from the numbers."""

    title: str
    metrics: list[str]
    last: int
    quoted: list[str]
    orientation: str
    ranks: list[str]
    cells: Cells
    trained_as: Aliases
    runs: list[Row]
    labels: dict[str, dict[str, str]]


class Compared(TypedDict):
    """An experiment whose methods are compared by tests."""

    title: str
    metric: str
    cells: Cells
    trained_as: Aliases


class Network(TypedDict):
    """A network, and the first of the datasets that it sees."""

    net: str
    dataset: str
    settings: Options
    patch: int | None


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

    def spec(self, wildcards: Wildcards) -> TableSpec:
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
            "runs": [row(run) for run in self.flow.table_runs(name)],
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
        timed = self.timing_spec(wildcards)["methods"]
        files = {entry["file"] for entry in timed.values()}
        modules = [f"warlab.methods.{file}" for file in sorted(files)]
        return self.flow.code("time_steps", *modules, f"warlab.nets.{wildcards.net}")

    @property
    def timing_title(self) -> str:
        title: str = self.flow.study.experiments["timing"]["title"]
        return title

    # ---- networks

    @cached_property
    def networks(self) -> list[Network]:
        first = {run.net: run.dataset for run in reversed(self.flow.study.plan.runs)}
        study = self.flow.study
        return [
            {
                "net": net,
                "dataset": dataset,
                "settings": study.settings.untrained_net(net, dataset),
                "patch": study.settings.training(dataset).get("patch"),
            }
            for net, dataset in sorted(first.items())
        ]

    def networks_see(self) -> list[str]:
        """The descriptions of the datasets that the networks see first."""
        return self.flow.of_datasets(self.flow.paths.data_json, sorted({entry["dataset"] for entry in self.networks}))

    def architectures_code(self) -> str:
        return self.flow.code("architectures", *(f"warlab.nets.{entry['net']}" for entry in self.networks))

    # ---- which of the other tables there are: given runs come without data and times

    def all_named(self, pattern: str) -> list[str]:
        return [pattern.format(experiment=name) for name in self.flow.study.plan.tables]

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

    def compared(self) -> dict[str, Compared]:
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

    @property
    def stands_for(self) -> dict[str, list[str]]:
        """Of the timed methods, those that stand for others in the claims about times."""
        return self.flow.study.experiments["timing"].get("stands_for", {})
