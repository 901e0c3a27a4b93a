"""What all jobs share: the study, the paths of its files, the digests of the code."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

from warlab import data, noise
from warlab.config.study import Study
from warlab.errors import WarlabError
from warlab.ids import CostId, RunId
from warlab.methods import METHODS
from warlab.nets import NETS
from warlab.ot import costs
from warlab.pipeline.digests import code_digest, module_digests
from warlab.pipeline.paths import Paths
from warlab.pipeline.sources import needed_for
from warlab.reporting.figures import FIGURES

Files = dict[str, str]  # role in a job → path
P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")


def cached_method(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Cache the results of a method in its object, and return copies of dictionaries and lists."""

    @wraps(method)
    def cached(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        results = vars(self).setdefault("_results", {})
        key = (method.__name__, args, tuple(sorted(kwargs.items())))
        if key not in results:
            results[key] = method(self, *args, **kwargs)
        result: Any = results[key]
        return cast(T, result.copy() if isinstance(result, dict | list) else result)

    return cached


class Wildcards(Protocol):
    """The wildcards of a job, as Snakemake gives them to functions; a job has only those of its rule."""

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


def by_wildcards(function: Callable[..., T], *names: str) -> Callable[[Wildcards], T]:
    """A parameter or input of a rule: `function` of the wildcards with these names."""
    return lambda wildcards: function(*(getattr(wildcards, name) for name in names))


def given_runs(study: Study) -> Path | None:
    """The runs.csv of a finished study that `runs_from` names; its runs replace our own trainings."""
    folder = study.config.get("runs_from")
    if not folder:
        return None
    if not (file := Path(folder) / "runs.csv").is_file():
        raise WarlabError(f"runs_from names {folder}, which has no runs.csv; name the folder of a finished study.")
    return file


@dataclass(frozen=True, eq=False, repr=False)
class Workflow:
    """The study of one scale.

    given    the finished runs that replace our own, see `given_runs`
    ancient  Snakemake's mark for files whose age does not count
    tell     shows a sentence in the terminal
    """

    study: Study
    root: Path
    paths: Paths
    given: Path | None = None
    ancient: Callable[[str], str] = str
    tell: Callable[[str], object] = print

    def own_file(self, path: str) -> str:
        """A file of the repository, relative to the working folder if it lies below that: then the results are the
        same on every machine."""
        file = self.root / path
        return str(file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file)

    @cached_method
    def code(self, script: str, *modules: str) -> str:
        """Return one digest of a script, of these modules and of all that they import."""
        return code_digest(self._script(script), *modules)

    @cached_method
    def modules(self, script: str, *modules: str) -> dict[str, str]:
        """Return the digests of a script, of these modules and of all that they import."""
        return module_digests(self._script(script), *modules)

    def _script(self, name: str) -> Path:
        return self.root / "workflow" / "scripts" / f"{name}.py"

    def code_of(self, script: str, *names: str) -> Callable[[Wildcards], str]:
        """Return the digest of a script and of the modules that the wildcards with these names stand for."""
        return lambda wildcards: self.code(script, *(_MODULES[name](self, wildcards) for name in names))

    def unless_given(self, files: Iterable[str]) -> list[str]:
        """These files, or none with given runs: they exist only where the data were prepared and trained on."""
        return [] if self.given else list(files)

    # ---- files that several jobs read
    # All of them are declared as inputs, so that every change is noticed. Arrays come with the JSON file that
    # describes them (mean, classes, rate of the noise).

    def data_files(self, dataset: str) -> Files:
        names = {"dataset": dataset}
        return {"data": self.paths.data.format(**names), "data_json": self.paths.data_json.format(**names)}

    def noise_files(self, dataset: str, noise_id: str, seed: int) -> Files:
        """The noisy labels, and the dataset whose images open-set noise inserts."""
        names = {"dataset": dataset, "noise": noise_id, "seed": seed}
        files = {"noise": self.paths.noise.format(**names), "noise_json": self.paths.noise_json.format(**names)}
        images = noise.needs(noise_id).get("images")
        return files | ({"images": self.paths.data.format(dataset=images)} if images else {})

    def cost_file(self, run: RunId) -> Files:
        """The ground cost of a run, if it has one."""
        key = self.study.settings.cost_key(run)
        return {"cost": self.paths.cost.format(dataset=run.dataset, cost=key)} if key else {}

    def receipt(self, dataset: str, other: str | None = None) -> str:
        """The receipt of a dataset, or of another resource that belongs to it: human labels, a pre-trained network."""
        return needed_for(self.study, dataset, other).receipt(self.paths)

    # ---- datasets

    @cached_property
    def samples(self) -> dict[str, str]:
        """dataset → kind of its samples: images, stored, tiles"""
        return {name: data.get(name).samples for name in self.study.scale["datasets"]}

    @cached_property
    def datasets(self) -> list[str]:
        """The datasets of the runs."""
        return sorted({run.dataset for run in self.study.plan.runs})

    @cached_property
    def tiles(self) -> list[str]:
        return [name for name in self.datasets if self.samples[name] == "tiles"]

    @cached_property
    def with_images(self) -> list[str]:
        return [name for name in self.datasets if name not in self.tiles]

    # ---- files of several runs or datasets

    def of_runs(self, pattern: str, runs: Iterable[RunId] | None = None) -> list[str]:
        """A file of each of these runs, by default of all."""
        return [pattern.format(**vars(run)) for run in (self.study.plan.runs if runs is None else runs)]

    def of_datasets(self, pattern: str, datasets: Iterable[str] | None = None) -> list[str]:
        """A file of each of these datasets, by default of all."""
        return [pattern.format(dataset=name) for name in (self.datasets if datasets is None else datasets)]

    @cached_method
    def shared_files(self, *patterns: str) -> list[str]:
        """The noise or cost files of all runs, each once: several runs share them."""
        keys = {run: self.study.settings.cost_key(run) for run in self.study.plan.runs}
        names = [vars(run) | {"cost": key} for run, key in keys.items()]
        return sorted({path.format(**one) for path in patterns for one in names if one["cost"] or "{cost}" not in path})

    # ---- runs of tables

    def table_runs(self, experiment: str) -> list[RunId]:
        """The runs of one table."""
        return sorted({self.study.plan.trained_as(cell) for cell in self.study.plan.cells(experiment)})

    def shown_runs(self) -> list[RunId]:
        """The runs of all tables, in the order of the tables."""
        cells = (cell for name in self.study.plan.tables for cell in self.study.plan.cells(name))
        return list(dict.fromkeys(self.study.plan.trained_as(cell) for cell in cells))

    def all_aliases(self) -> list[tuple[str, str, str, str, str]]:
        """The cells of all tables whose run has another name, see `Plan.aliases`."""
        return sorted({alias for name in self.study.plan.tables for alias in self.study.plan.aliases(name)})


class JobGroup:
    """The inputs and parameters of some rules; a function of `wildcards` is called for each job."""

    def __init__(self, flow: Workflow) -> None:
        self.flow, self.study, self.paths = flow, flow.study, flow.paths


_MODULES: dict[str, Callable[[Workflow, Wildcards], str]] = {
    "dataset": lambda _, names: data.module(names.dataset),
    "noise": lambda _, names: noise.module(names.noise),
    "cost": lambda flow, names: costs.module(
        flow.study.settings.cost_kind(CostId.parse(names.cost).name, names.dataset)
    ),
    "method": lambda flow, names: METHODS.module(flow.study.numbers.method_file(names.method)),
    "samples": lambda flow, names: f"warlab.engine.{flow.samples[names.dataset]}",
    "net": lambda _, names: NETS.module(names.net),
    "network": lambda _, names: NETS.module(names.network),  # pre-trained
    "weights": lambda _, names: data.module(names.network),  # of the pre-trained network
    "figure": lambda _, names: FIGURES.module(names.figure),
}
