"""What all jobs of the workflow share: the study, its paths, given runs in place of training, and code."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

from warlab import data, noise
from warlab.config.settings import remembered
from warlab.config.study import Study
from warlab.errors import WarlabError
from warlab.ids import CostId, RunId
from warlab.methods import METHODS
from warlab.nets import NETS
from warlab.ot import costs
from warlab.pipeline import sources
from warlab.pipeline.fingerprint import fingerprint
from warlab.pipeline.paths import Paths
from warlab.reporting.figures import FIGURES

Files = dict[str, str]  # path by its role in a job


class Wildcards(Protocol):
    """What Snakemake hands to a function: the parts of a job's files, those that its rule has."""

    dataset: str
    source: str
    noise: str
    net: str
    method: str
    seed: str
    cost: str
    network: str
    experiment: str
    figure: str


def run_of(wildcards: Wildcards) -> RunId:
    return RunId(wildcards.dataset, wildcards.noise, wildcards.net, wildcards.method, int(wildcards.seed))


def given_runs(study: Study) -> Path | None:
    """The finished runs.csv that stands in place of training, if the configuration names one."""
    folder = study.config.get("runs_from")
    if not folder:
        return None
    if not (file := Path(folder) / "runs.csv").is_file():
        raise WarlabError(f"runs_from names {folder}, which has no runs.csv; name the folder of a finished study.")
    return file


@dataclass(frozen=True, eq=False, repr=False)
class Workflow:
    """One scale, from wherever the workflow is called or imported."""

    study: Study
    root: Path
    paths: Paths
    given: Path | None = None  # see `given_runs`

    def own_file(self, path: str) -> str:
        """A file of the repository as a rule names it: from the working folder where it lies below that, so that
        results look the same on every machine."""
        file = self.root / path
        return str(file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file)

    @remembered
    def code(self, script: str, *modules: str) -> str:
        """What a job's result depends on in the code: comments and docstrings do not count."""
        return fingerprint(self.root / "workflow" / "scripts" / f"{script}.py", *modules)

    def code_of(self, script: str, *parts: str) -> Callable[[Wildcards], str]:
        """The code of a rule's jobs: the script, and the modules behind these parts of a job's wildcards."""
        return lambda wildcards: self.code(script, *(_MODULES[part](self, wildcards) for part in parts))

    def unless_given(self, files: Iterable[str]) -> list[str]:
        """Files that only exist where this machine prepared the data and trained."""
        return [] if self.given else list(files)

    # ---- files that several jobs read
    # All are declared, so that a changed one is noticed whoever changed it. Arrays come with the JSON file that
    # describes them (mean, classes, rate of the noise).

    def data_files(self, dataset: str) -> Files:
        names = {"dataset": dataset}
        return {"data": self.paths.data.format(**names), "data_json": self.paths.data_json.format(**names)}

    def noise_files(self, dataset: str, noise_id: str, seed: int) -> Files:
        """The noisy labels, and the images that open-set noise puts in place of others."""
        names = {"dataset": dataset, "noise": noise_id, "seed": seed}
        files = {"noise": self.paths.noise.format(**names), "noise_json": self.paths.noise_json.format(**names)}
        images = noise.needs(noise_id).get("images")
        return files | ({"images": self.paths.data.format(dataset=images)} if images else {})

    def weights(self, network: str, dataset: str) -> str:
        """The receipt of a pre-trained network, or of human labels, that goes with a dataset."""
        return sources.for_dataset(self.study, network, dataset).receipt(self.paths)

    # ---- datasets

    @cached_property
    def samples(self) -> dict[str, str]:
        """dataset → what one of its samples is: images, stored, tiles"""
        return {name: data.get(name).samples for name in self.study.scale["datasets"]}

    @cached_property
    def datasets(self) -> list[str]:
        """Those of the runs."""
        return sorted({run.dataset for run in self.study.plan.runs})

    @cached_property
    def tiles(self) -> list[str]:
        return [name for name in self.datasets if self.samples[name] == "tiles"]

    @cached_property
    def with_images(self) -> list[str]:
        return [name for name in self.datasets if name not in self.tiles]

    # ---- all files of a kind

    def of_runs(self, pattern: str, runs: Iterable[RunId] | None = None) -> list[str]:
        """A file of each run, of all that are trained unless others are named."""
        return [pattern.format(**vars(run)) for run in (self.study.plan.runs if runs is None else runs)]

    def of_datasets(self, pattern: str, datasets: Iterable[str] | None = None) -> list[str]:
        return [pattern.format(dataset=name) for name in (self.datasets if datasets is None else datasets)]

    @cached_property
    def all_noise(self) -> list[str]:
        return sorted(set(self.of_runs(self.paths.noise)))

    @cached_property
    def noise_descriptions(self) -> list[str]:
        return sorted(set(self.of_runs(self.paths.noise_json)))

    @cached_property
    def _costs(self) -> list[dict[str, str]]:
        pairs = {(run.dataset, key) for run in self.study.plan.runs if (key := self.study.settings.cost_key(run))}
        return [{"dataset": dataset, "cost": cost} for dataset, cost in sorted(pairs)]

    @property
    def all_costs(self) -> list[str]:
        """The verifications of all ground costs."""
        return [self.paths.verified.format(**cost) for cost in self._costs]

    @property
    def cost_descriptions(self) -> list[str]:
        """What stands with the verifications and is read with them."""
        return [path.format(**cost) for cost in self._costs for path in (self.paths.cost, self.paths.cost_json)]

    def table_runs(self, experiment: str) -> list[RunId]:
        """The runs behind a table: another table may have more seeds of the same cell."""
        return sorted({self.study.plan.trained_as(cell) for cell in self.study.plan.cells(experiment)})

    def shown_runs(self) -> list[RunId]:
        """The runs behind the tables, in the order of their tables."""
        cells = (cell for name in self.study.plan.tables for cell in self.study.plan.cells(name))
        return list(dict.fromkeys(self.study.plan.trained_as(cell) for cell in cells))

    def all_aliases(self) -> list[tuple[str, str, str, str, str]]:
        """Cells of every table of the scale that are runs of another name."""
        return sorted({alias for name in self.study.plan.tables for alias in self.study.plan.aliases(name)})


_MODULES: dict[str, Callable[[Workflow, Wildcards], str]] = {
    "dataset": lambda _, names: data.module(names.dataset),
    "noise": lambda _, names: noise.module(names.noise),
    "cost": lambda flow, names: costs.module(
        flow.study.settings.cost_kind(CostId.parse(names.cost).name, names.dataset)
    ),
    "method": lambda flow, names: METHODS.module(flow.study.settings.method_file(names.method)),
    "samples": lambda flow, names: f"warlab.engine.{flow.samples[names.dataset]}",
    "net": lambda _, names: NETS.module(names.net),
    "network": lambda _, names: NETS.module(names.network),  # a pre-trained one
    "weights": lambda _, names: data.module(names.network),  # those of the pre-trained network
    "figure": lambda _, names: FIGURES.module(names.figure),
}
