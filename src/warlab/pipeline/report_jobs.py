"""What the rule of the report asks."""

from dataclasses import dataclass

from warlab.artefacts.run_config import Options
from warlab.config.reductions import reductions
from warlab.pipeline.figure_jobs import FigureJobs
from warlab.pipeline.table_jobs import LAST, TableJobs
from warlab.pipeline.workflow import Wildcards, Workflow
from warlab.reporting.figure_registry import figure_section, figure_title


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
                name: {"title": figure_title(name), "section": figure_section(name)} for name in self.figures.names
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
