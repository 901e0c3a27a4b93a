"""What a study needs from outside: datasets, human labels, weights of networks. A job of its own fetches each."""

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
        found |= {
            of_dataset(study, name) if role == "images" else for_dataset(study, name, cell.dataset)
            for role, name in noise.needs(cell.noise).items()
            if role != "given"
        }
        found |= {for_dataset(study, name, dataset) for name, dataset in networks(study, cell)}
    return sorted(found)


def datasets(study: Study) -> list[str]:
    """Those that are prepared: of the runs, and those whose images open-set noise takes."""
    noises = {cell.noise for cell in study.plan.runs}
    taken = {needs["images"] for needs in map(noise.needs, noises) if "images" in needs}
    return sorted({cell.dataset for cell in study.plan.runs} | taken)


def networks(study: Study, cell: RunId) -> set[tuple[str, str]]:
    """Pre-trained networks that a run needs, each with the dataset that it sees."""
    found = {(cell.net, cell.dataset)} if study.settings.weights(cell.net, cell.dataset) == IMAGENET else set()
    cost = study.settings.cost_name(cell)
    features = study.settings.features(cost, cell.dataset) if cost else None
    if features:
        seen = {cell.dataset, noise.needs(cell.noise).get("images", cell.dataset)}
        found |= {(features.rsplit("-", 1)[0], dataset) for dataset in seen}
    return found


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
