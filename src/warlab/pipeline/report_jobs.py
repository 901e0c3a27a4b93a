"""What the rules of figures and of the report ask: which figures can be drawn of a study, and from which files."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from warlab import nets
from warlab.artefacts.run_config import Options
from warlab.config.reductions import reductions
from warlab.ids import RunId
from warlab.pipeline.table_jobs import LAST, TableJobs
from warlab.pipeline.train_jobs import TrainJobs
from warlab.pipeline.workflow import Wildcards, Workflow
from warlab.reporting import figures
from warlab.reporting.figures import Design, declaration, published_cells, why_not
from warlab.reporting.page import category

# What given runs come without.
_TRAINED_HERE = ("data", "costs", "activations", "tiles", "maps", "audit")


@dataclass(frozen=True, eq=False, repr=False)
class FigureJobs:
    flow: Workflow
    train: TrainJobs

    def inputs(self, wildcards: Wildcards) -> dict[str, list[str]]:
        """What the figure says it needs, and what every figure needs to say where its data come from."""
        flow, needs = self.flow, declaration(wildcards.figure).needs
        noise = flow.noise_descriptions if "noise" in needs and not flow.given else []
        return {
            **{kind: self.files[kind] for kind in needs},
            "meta": flow.unless_given(flow.of_datasets(flow.paths.data_json)),
            "descriptions": noise + (flow.cost_descriptions if "costs" in needs else []),
        }

    @cached_property
    def files(self) -> dict[str, list[str]]:
        """Those of each of figures/base.py's NEEDS."""
        flow, paths = self.flow, self.flow.paths
        return {
            "runs": [paths.runs],
            "noise": flow.unless_given(flow.all_noise),
            "costs": flow.all_costs,
            "data": flow.of_datasets(paths.data, flow.with_images),
            "tiles": flow.of_datasets(paths.data, flow.tiles),
            "published": [flow.own_file("config/published.csv")],
            "statistics": [paths.statistics],
            "toy": [paths.toy],
            "audit": [f"{paths.audit_table}.csv"],
            "activations": flow.of_runs(paths.activations, self.pictured()),
            "maps": self.train.maps(),
        }

    def pictured(self) -> list[RunId]:
        """The run whose activations are drawn: of Fashion-MNIST, on clean labels and with the reference of the tables,
        cross entropy, where it can be; none where no network tells the vector before its classifier."""
        study = self.flow.study
        references = {method for entry in study.experiments.values() for method in entry.get("reference", [])}
        runs = [run for run in study.plan.runs if run.dataset == "fashion_mnist" and nets.has_features(run.net)]
        return sorted(runs, key=lambda run: (run.noise != "clean", run.method not in references, run.seed))[:1]

    def caption_file(self, wildcards: Wildcards, output: Any) -> Path:
        """Where the report of Snakemake finds the text under a figure."""
        return Path(output.caption)

    def category(self, wildcards: Wildcards) -> str:
        return category(declaration(wildcards.figure).section)

    def title(self, wildcards: Wildcards) -> dict[str, str]:
        return {"shows": declaration(wildcards.figure).title}

    # ---- which figures

    @cached_property
    def names(self) -> list[str]:
        """Those that can be drawn of this study."""
        return [name for name in figures.names() if not why_not(name, self.design)]

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
        return {kind: why for kind, why in reasons.items() if not self.files[kind]}

    def left_out(self) -> dict[str, str]:
        """What the scale cannot show, each with the reason, for the report."""
        study = self.flow.study
        empty = [name for name in study.scale["experiments"] if not study.plan.cells(name)]
        tables = {f"table {name}": "the scale has no dataset of it" for name in empty}
        reasons = {name: why_not(name, self.design) for name in figures.names()}
        return tables | {f"figure {name}": why for name, why in reasons.items() if why}


@dataclass(frozen=True, eq=False, repr=False)
class ReportJobs:
    flow: Workflow
    tables: TableJobs
    figures: FigureJobs

    def inputs(self, wildcards: Wildcards) -> dict[str, list[str]]:
        """What the runs, and all that they were made of, say about themselves; given runs come without it.

        A function and not a list: where another input is named by its rule, Snakemake hashes the whole list for each
        file."""
        flow, paths = self.flow, self.flow.paths
        files = {
            "results": flow.of_runs(paths.result),
            "data": flow.of_datasets(paths.data_json),
            "noise": flow.all_noise,
            "costs": flow.all_costs,
            "descriptions": flow.noise_descriptions + flow.cost_descriptions,
        }
        return {name: flow.unless_given(listed) for name, listed in files.items()}

    def spec(self) -> Options:
        """What the report says that no file says: titles, layouts, names, hyper-parameters and their sources."""
        study = self.flow.study
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
            "headline": self._headline(),
            "left_out": self.figures.left_out(),
            "labels": study.labels,
            "metrics": [study.experiments[name]["metric"] for name in study.plan.tables],
            "reductions": reductions(study),
            "hyperparameters": study.numbers.table(),
            "committed": self.committed(),
            "logs": {str(run): self.flow.paths.train_log.format(**vars(run)) for run in study.plan.runs},
        }

    def committed(self) -> dict[str, dict[str, str]]:
        """What the scale names under `evidence`, where its folder is there: an installed package has no docs."""
        return {
            kind: {**entry, "path": self.flow.own_file(entry["folder"])}
            for kind, entry in self.flow.study.scale.get("evidence", {}).items()
            if (self.flow.root / entry["folder"] / "summary.csv").is_file()
        }

    def committed_files(self) -> list[str]:
        return [f"{entry['path']}/summary.csv" for entry in self.committed().values()]

    def _table(self, name: str) -> dict[str, str]:
        entry = self.flow.study.experiments[name]
        return {"title": entry["title"], "orientation": entry["orientation"], "section": self.tables.section(name)}

    def _headline(self) -> Options:
        """How the first table, which the report begins with, reads its runs."""
        study, first = self.flow.study, self.flow.study.plan.tables[:1]
        return {
            "last": min([study.experiments[name].get("last", LAST) for name in first], default=LAST),
            "trained_as": [alias for name in first for alias in study.plan.aliases(name)],
        }
