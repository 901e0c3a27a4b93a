"""What a study needs from outside: datasets, human labels, weights of networks. A job of its own fetches each."""

from collections.abc import Iterator
from dataclasses import dataclass

from warlab import data, noise
from warlab.config.settings import IMAGENET
from warlab.config.study import Study
from warlab.ids import RunId
from warlab.pipeline.paths import Paths


@dataclass(frozen=True, order=True)
class Needed:
    """A dataset or another resource, and in which form: embedded, stand_in or real."""

    name: str
    source: str

    def receipt(self, paths: Paths) -> str:
        """The file that says that it was fetched, and from where."""
        return paths.receipt.format(dataset=self.name, source=self.source)


def needed(study: Study) -> list[Needed]:
    """Everything that `snakemake data` fetches and `warlab doctor` looks for."""
    found = {of_dataset(study, name) for name in datasets(study)}
    for cell in study.plan.runs:
        found |= {for_dataset(study, name, dataset) for name, dataset in _others(study, cell)}
    return sorted(found)


def datasets(study: Study) -> list[str]:
    """Those that are prepared: of the runs, and those whose images open-set noise takes."""
    noises = {cell.noise for cell in study.plan.runs}
    taken = {needs["images"] for needs in map(noise.needs, noises) if "images" in needs}
    return sorted({cell.dataset for cell in study.plan.runs} | taken)


def _others(study: Study, cell: RunId) -> Iterator[tuple[str, str]]:
    """Human labels and pre-trained networks that a run needs, each with the dataset that it goes with."""
    needs = noise.needs(cell.noise)
    if "human" in needs:
        yield needs["human"], cell.dataset
    if study.settings.weights(cell.net, cell.dataset) == IMAGENET:
        yield cell.net, cell.dataset
    cost = study.settings.cost_name(cell)
    if cost and (features := study.settings.features(cost, cell.dataset)):
        for dataset in {cell.dataset, needs.get("images", cell.dataset)}:
            yield features.rsplit("-", 1)[0], dataset


def of_dataset(study: Study, name: str) -> Needed:
    return Needed(name, study.settings.data_spec(name)["source"])


def for_dataset(study: Study, name: str, dataset: str) -> Needed:
    """What goes with a dataset; with a stand-in goes a stand-in, so that nothing has to be fetched for it."""
    stand_in = study.settings.data_spec(dataset)["source"] == "stand_in"
    return Needed(name, "stand_in" if stand_in else "real")


def gated(name: str) -> bool:
    """Whether nobody gives it out to a program: the user must have a folder and name it in local_data."""
    resource = data.resource(name)
    return not resource.packages and not any(source.addresses for source in resource.sources)
