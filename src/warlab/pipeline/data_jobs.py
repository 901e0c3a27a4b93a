"""What the rules for data, noise and ground costs ask."""

from collections.abc import Callable
from dataclasses import asdict

from warlab import noise
from warlab.artefacts.run_config import Options
from warlab.ids import CostId
from warlab.pipeline import sources
from warlab.pipeline.workflow import PREPARING, JobGroup, Wildcards


class DataJobs(JobGroup):
    def sources(self, wildcards: Wildcards) -> list[sources.Source]:
        return sources.list_sources(self.study)

    def prepared(self, wildcards: Wildcards) -> list[str]:
        return sources.datasets(self.study)

    def source(self, wildcards: Wildcards) -> str:
        """Return the form of a dataset: embedded, stand_in or real, the latter with a digest of the user's files."""
        return sources.find_source(self.study, wildcards.dataset).folder

    def source_of_extras(self, wildcards: Wildcards) -> str:
        """Return the form of human labels and pre-trained networks that belong to a dataset."""
        return sources.find_source(self.study, wildcards.dataset, "extra").source

    def effort(self, field: str) -> Callable[[Wildcards], int]:
        """Return what preparing a dataset requests from a cluster: threads, mem_mb or minutes."""
        return lambda names: getattr(self.effort_for(names.dataset, PREPARING), field)

    def settings(self, wildcards: Wildcards) -> Options:
        """Return the part of a dataset that the scale uses."""
        return asdict(self.study.settings.data_spec(wildcards.dataset))

    # ---- noise

    def open_set_images(self, wildcards: Wildcards) -> list[str]:
        """Return the dataset whose images the noise inserts, if it is open-set noise."""
        return _needs(wildcards.noise, "images")

    def human_labels(self, wildcards: Wildcards) -> list[str]:
        """Return the resource with labels by people, if the noise is made from them."""
        return _needs(wildcards.noise, "human")

    def label_file(self, wildcards: Wildcards) -> list[str]:
        """Return the user's file of noisy labels, if the noise is read from one."""
        return [self.study.settings.noise_file(name) for name in _needs(wildcards.noise, "given")]

    def noise_settings(self, wildcards: Wildcards) -> Options:
        return self.study.settings.noise(wildcards.noise, wildcards.dataset)

    # ---- ground costs; a folder such as embed@asym-40@seed0 names the noisy labels that the cost is computed from

    def labels_of_cost(self, wildcards: Wildcards) -> list[str]:
        """Return the noisy labels that a cost reads, if it reads any."""
        cost = CostId.parse(wildcards.cost)
        return [] if cost.noise is None else [f"{wildcards.dataset}/{cost.noise}/seed{cost.seed}"]

    def images_of_cost(self, wildcards: Wildcards) -> list[str]:
        """Return the dataset of the images that open-set noise inserted, unless only their features are read."""
        cost = CostId.parse(wildcards.cost)
        features = self.study.settings.features(cost.name, wildcards.dataset)
        return _needs(cost.noise, "images") if cost.noise and not features else []

    def features_of_cost(self, wildcards: Wildcards) -> list[str]:
        """Return the features that a cost reads, such as cifar10/resnet18-224, if it reads any."""
        features = self.study.settings.features(CostId.parse(wildcards.cost).name, wildcards.dataset)
        return [f"{wildcards.dataset}/{features}"] if features else []

    def other_features_of_cost(self, wildcards: Wildcards) -> list[str]:
        """Return the features of the images that open-set noise inserted."""
        cost = CostId.parse(wildcards.cost)
        features = self.study.settings.features(cost.name, wildcards.dataset)
        return [f"{name}/{features}" for name in _needs(cost.noise, "images")] if cost.noise and features else []

    def user_files_of_cost(self, wildcards: Wildcards) -> list[str]:
        """Return the user's file of a cost or of word vectors, if the cost is made from one."""
        return [*self.study.settings.cost_files(CostId.parse(wildcards.cost).name, wildcards.dataset).values()]

    def cost_settings(self, wildcards: Wildcards) -> Options:
        return self.study.settings.cost(CostId.parse(wildcards.cost).name, wildcards.dataset)


def _needs(noise_id: str, role: str) -> list[str]:
    return [name for known, name in noise.needs(noise_id).items() if known == role]
