"""What a study fetches from outside: datasets, human labels and weights of networks."""

from collections.abc import Iterator
from dataclasses import dataclass

from warlab import data, noise
from warlab.config.settings import IMAGENET
from warlab.config.study import Study
from warlab.ids import RunId
from warlab.pipeline.paths import Paths


@dataclass(frozen=True, order=True)
class Needed:
    """A dataset or another resource, and its form: embedded, stand_in or real."""

    name: str
    source: str

    def receipt(self, paths: Paths) -> str:
        """The file that records that it was fetched, and from where."""
        return paths.receipt.format(dataset=self.name, source=self.source)


def needed(study: Study) -> list[Needed]:
    """Everything that `snakemake data` fetches and `warlab doctor` looks for."""
    others = {pair for run in study.plan.runs for pair in _others(study, run)}
    return sorted({needed_for(study, name) for name in datasets(study)} | {needed_for(study, *pair) for pair in others})


def datasets(study: Study) -> list[str]:
    """The datasets that are prepared: those of the runs, and those whose images open-set noise inserts."""
    noises = {run.noise for run in study.plan.runs}
    inserted = {needs["images"] for needs in map(noise.needs, noises) if "images" in needs}
    return sorted({run.dataset for run in study.plan.runs} | inserted)


def _others(study: Study, run: RunId) -> Iterator[tuple[str, str]]:
    """Human labels and pre-trained networks that a run needs, each after the dataset that it belongs to."""
    needs = noise.needs(run.noise)
    if "human" in needs:
        yield run.dataset, needs["human"]
    if study.settings.weights(run.net, run.dataset) == IMAGENET:
        yield run.dataset, run.net
    cost = study.settings.cost_name(run)
    if cost and (features := study.settings.features(cost, run.dataset)):
        for dataset in {run.dataset, needs.get("images", run.dataset)}:
            yield dataset, features.rsplit("-", 1)[0]


def needed_for(study: Study, dataset: str, other: str | None = None) -> Needed:
    """A dataset, or another resource that belongs to it; for a stand-in that is a stand-in, too, so that nothing has to
    be downloaded."""
    source = study.settings.data_spec(dataset).source
    return Needed(dataset, source) if other is None else Needed(other, "stand_in" if source == "stand_in" else "real")


def gated(name: str) -> bool:
    """Whether no program can download it: the user must get it from its owners and name the folder in local_data."""
    resource = data.resource(name)
    return not resource.packages and not any(source.addresses for source in resource.sources)
