"""What the rules of figures ask: which can be drawn of a study, and from which files."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

from warlab import nets
from warlab.ids import RunId
from warlab.pipeline.train_jobs import TrainJobs
from warlab.pipeline.workflow import Wildcards, Workflow
from warlab.reporting.figure_registry import (
    Design,
    figure_names,
    figure_needs,
    figure_section,
    figure_title,
    published_cells,
    why_not,
)
from warlab.reporting.page.sections import category

# What given runs come without.
_TRAINED_HERE = ("data", "costs", "activations", "tiles", "maps", "audit")


class FigureFiles(Protocol):
    """The output of a job, as Snakemake hands it to a function."""

    caption: str


@dataclass(frozen=True, eq=False, repr=False)
class FigureJobs:
    flow: Workflow
    train: TrainJobs

    def inputs(self, wildcards: Wildcards) -> dict[str, list[str]]:
        """What the figure says it needs, and what every figure needs to say where its data come from."""
        flow, needs = self.flow, figure_needs(wildcards.figure)
        noise = flow.noise_descriptions if "noise" in needs and not flow.given else []
        return {
            **{kind: self.files(kind) for kind in needs},
            "meta": flow.unless_given(flow.of_datasets(flow.paths.data_json)),
            "descriptions": noise + (flow.cost_descriptions if "costs" in needs else []),
        }

    def files(self, kind: str) -> list[str]:
        """The files of one of figures/base.py's NEEDS."""
        flow, paths = self.flow, self.flow.paths
        if kind == "activations":
            return flow.of_runs(paths.activations, self.pictured())
        if kind == "maps":
            return self.train.maps()
        found: Mapping[str, list[str]] = {
            "runs": [paths.runs],
            "noise": flow.unless_given(flow.all_noise),
            "costs": flow.all_costs,
            "data": flow.of_datasets(paths.data, flow.with_images),
            "tiles": flow.of_datasets(paths.data, flow.tiles),
            "published": [flow.own_file("config/published.csv")],
            "statistics": [paths.statistics],
            "toy": [paths.toy],
            "audit": [f"{paths.audit_table}.csv"],
        }
        return found[kind]

    def pictured(self) -> list[RunId]:
        """The run whose activations are drawn: of Fashion-MNIST, on clean labels and with the reference of the tables,
        cross entropy, where it can be; none where no network tells the vector before its classifier."""
        study = self.flow.study
        references = {method for entry in study.experiments.values() for method in entry.get("reference", [])}
        runs = [run for run in study.plan.runs if run.dataset == "fashion_mnist" and nets.has_features(run.net)]
        return sorted(runs, key=lambda run: (run.noise != "clean", run.method not in references, run.seed))[:1]

    def code(self, wildcards: Wildcards) -> str:
        return self.flow.code("figure", f"warlab.reporting.figures.{wildcards.figure}")

    def caption_file(self, wildcards: Wildcards, output: FigureFiles) -> Path:
        """Where the report of Snakemake finds the text under a figure."""
        return Path(output.caption)

    def category(self, wildcards: Wildcards) -> str:
        return category(figure_section(wildcards.figure))

    def title(self, wildcards: Wildcards) -> dict[str, str]:
        return {"shows": figure_title(wildcards.figure)}

    # ---- which figures

    @cached_property
    def names(self) -> list[str]:
        """Those that can be drawn of this study."""
        return [name for name in figure_names() if not why_not(name, self.design)]

    @cached_property
    def design(self) -> Design:
        """What figures may ask of the study."""
        flow, study = self.flow, self.flow.study
        return Design(
            {name: [cell.cell for cell in study.plan.cells(name)] for name in study.plan.tables},
            [run.cell for run in study.plan.runs],
            published_cells(flow.root / "config" / "published.csv"),
            self._absent(),
            not flow.given or "seconds" in flow.given.read_text().partition("\n")[0].split(","),
        )

    def _absent(self) -> dict[str, str]:
        if self.flow.given:
            return {kind: f"given runs come without {kind}" for kind in _TRAINED_HERE}
        reasons = {
            "data": "no dataset has single images",
            "tiles": "no dataset has tiles",
            "activations": "no network of Fashion-MNIST has a method features()",
        }
        return {kind: why for kind, why in reasons.items() if not self.files(kind)}

    def left_out(self) -> dict[str, str]:
        """What the scale cannot show, each with the reason, for the report."""
        study = self.flow.study
        empty = [name for name in study.scale["experiments"] if not study.plan.cells(name)]
        tables = {f"table {name}": "the scale has no dataset of it" for name in empty}
        figures = {name: why_not(name, self.design) for name in figure_names()}
        return tables | {f"figure {name}": why for name, why in figures.items() if why}
