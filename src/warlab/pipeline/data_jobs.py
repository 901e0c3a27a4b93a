"""Inputs and parameters of the rules for data, noise and ground costs."""

from collections.abc import Callable
from dataclasses import asdict

from warlab import noise
from warlab.artefacts.run_config import Options
from warlab.ids import CostId
from warlab.pipeline import cluster, sources
from warlab.pipeline.workflow import Files, JobGroup, Wildcards


class DataJobs(JobGroup):
    def everything(self, wildcards: Wildcards) -> list[str]:
        """All prepared data, and the receipts of all that is fetched."""
        receipts = [needed.receipt(self.paths) for needed in sources.needed(self.study)]
        return receipts + self.flow.of_datasets(self.paths.data, sources.datasets(self.study))

    def effort(self, field: str) -> Callable[[Wildcards], int]:
        """What preparing a dataset requests from a cluster: threads, mem_mb or minutes."""
        spec = self.study.settings.data_spec
        return lambda names: getattr(cluster.preparing(names.dataset, spec(names.dataset).source), field)

    def spec(self, wildcards: Wildcards) -> Options:
        """The part of a dataset that the scale uses, as a parameter."""
        return asdict(self.study.settings.data_spec(wildcards.dataset))

    def noise_inputs(self, wildcards: Wildcards) -> Files:
        files = self.flow.data_files(wildcards.dataset)
        for role, name in noise.needs(wildcards.noise).items():
            if role == "images":
                other = self.flow.data_files(name)
                files |= {"images": other["data"], "images_json": other["data_json"]}
            elif role == "human":
                files[role] = self.flow.receipt(wildcards.dataset, name)
            else:
                files[role] = self.study.settings.noise_file(name)
        return files

    def cost_inputs(self, wildcards: Wildcards) -> Files:
        """The data, the noisy labels if the cost reads them, and the user's files."""
        cost, dataset, settings = CostId.parse(wildcards.cost), wildcards.dataset, self.study.settings
        files = self.flow.data_files(dataset)
        if cost.noise is not None and cost.seed is not None:
            files |= self.flow.noise_files(dataset, cost.noise, cost.seed)
        if features := settings.features(cost.name, dataset):
            files |= self._features(features, dataset, cost.noise)
            files.pop("images", None)  # of open-set noise: only their features are read
        return files | settings.cost_files(cost.name, dataset)

    def _features(self, features: str, dataset: str, noise_id: str | None) -> Files:
        """Features of the dataset, and of the one whose images open-set noise inserts."""
        paths, (network, size) = self.paths, features.rsplit("-", 1)
        names = {"dataset": dataset, "network": network, "size": size}
        files = {"features": paths.features.format(**names), "features_json": paths.features_json.format(**names)}
        if noise_id and (other := noise.needs(noise_id).get("images")):
            files["other_features"] = paths.features.format(**(names | {"dataset": other}))
        return files

    def cost_spec(self, wildcards: Wildcards) -> Options:
        """Kind and settings of the cost in a folder such as embed@asym-40@seed0."""
        return self.study.settings.cost(CostId.parse(wildcards.cost).name, wildcards.dataset)

    def cost_uses(self, wildcards: Wildcards) -> list[tuple[float, int]]:
        return self.study.plan.cost_uses.get((wildcards.dataset, wildcards.cost), [])
