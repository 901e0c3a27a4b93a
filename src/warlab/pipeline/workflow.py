"""What all jobs share: the study, the paths of its files, the digests of the code."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple, Protocol

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


class Effort(NamedTuple):
    """Memory (MB), time (minutes) and threads that a job requests from a cluster."""

    mem_mb: int
    minutes: int
    threads: int = 1


# By the kind of samples of a dataset, generously for one GPU (A100, float32): a Vaihingen study has 3 GB of pixels and
# labels, and a run of 22 h; the shards of Clothing1M take 20 GB, which need a page cache, and a run takes 21 h. CPUs
# took 0.4 GB at the smoke scale, 0.5 GB at demo and laptop. A run that reaches its time limit saves its state.
TRAINING = {
    "images": Effort(4000, 720),
    "vectors": Effort(4000, 720),
    "tiles": Effort(8000, 2160),
    "stored": Effort(16000, 2160),
}
PREPARING = {
    "images": Effort(8000, 30),
    "vectors": Effort(8000, 30),
    "tiles": Effort(8000, 60),
    "stored": Effort(8000, 1440, threads=4),
}


class JobGroup:
    """What some rules ask about the study; a method with `wildcards` is called for each job."""

    def __init__(self, flow: Workflow) -> None:
        self.flow, self.study = flow, flow.study

    def effort_for(self, dataset: str, efforts: Mapping[str, Effort]) -> Effort:
        """Return the effort for a dataset. Stand-ins are small, whatever they replace."""
        is_stand_in = self.study.settings.data_spec(dataset).source == "stand_in"
        return efforts["images" if is_stand_in else self.flow.samples[dataset]]


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
