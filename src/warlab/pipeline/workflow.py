"""What all jobs share: the study, the paths of its files, the digests of the code."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Protocol

from warlab import data, noise
from warlab.config.study import Study
from warlab.ids import CostId, RunId
from warlab.methods import METHODS
from warlab.nets import NETS
from warlab.ot import costs
from warlab.pipeline.digests import code_digest
from warlab.pipeline.given_runs import GivenRuns
from warlab.pipeline.paths import Paths
from warlab.reporting.figures import FIGURES

_code_digest = cache(code_digest)  # planning asks for every job


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


@dataclass(frozen=True, eq=False, repr=False)
class Workflow:
    """The study of one scale.

    given  the finished runs that replace our own, which `runs_from` names
    tell   shows a sentence in the terminal
    """

    study: Study
    root: Path
    paths: Paths
    given: GivenRuns | None = None
    tell: Callable[[str], object] = print

    def own_file(self, path: str) -> str:
        """Return a file of the repository, relative to the working folder if it is below that: then the results are the
        same on every machine."""
        file = self.root / path
        return str(file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file)

    def code(self, script: str, *modules: str) -> str:
        """Return one digest of a script, of these modules and of all that they import."""
        return _code_digest(self.root / "workflow" / "scripts" / f"{script}.py", *modules)

    def code_of(self, script: str, *names: str) -> Callable[[Wildcards], str]:
        """Return the digest of a script and of the modules that the wildcards with these names stand for."""
        return lambda wildcards: self.code(script, *(_MODULES[name](self, wildcards) for name in names))

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
    def tile_datasets(self) -> list[str]:
        return [name for name in self.datasets if self.samples[name] == "tiles"]

    @cached_property
    def image_datasets(self) -> list[str]:
        return [name for name in self.datasets if name not in self.tile_datasets]

    def shown_runs(self) -> list[RunId]:
        """Return the runs of all tables, in the order of the tables."""
        return list(dict.fromkeys(cell for name in self.study.plan.tables for cell in self.study.plan.cells(name)))


class JobGroup:
    """What some rules ask about the study; a method with `wildcards` is called for each job."""

    def __init__(self, flow: Workflow) -> None:
        self.flow, self.study = flow, flow.study


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
