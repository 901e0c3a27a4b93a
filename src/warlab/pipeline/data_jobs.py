"""What the rules of data, noise and ground costs ask."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from warlab import data, noise
from warlab.artefacts.run_config import Options
from warlab.config.settings import DataSpec
from warlab.data.user_data import state
from warlab.ids import CostId
from warlab.pipeline import resources, sources
from warlab.pipeline.workflow import Files, Wildcards, Workflow


@dataclass(frozen=True, eq=False, repr=False)
class DataJobs:
    flow: Workflow

    def everything(self, wildcards: Wildcards) -> list[str]:
        """Everything that needs a network or a folder of the owners, and all prepared data."""
        study, paths = self.flow.study, self.flow.paths
        receipts = [needed.receipt(paths) for needed in sources.needed(study)]
        return receipts + self.flow.of_datasets(paths.data, sources.datasets(study))

    # ---- fetch

    def local(self, wildcards: Wildcards) -> str | None:
        """The user's own folder."""
        return self.flow.study.config.get("local_data", {}).get(wildcards.dataset)

    def local_state(self, wildcards: Wildcards) -> str | None:
        """The user's own data may change where they are: then they are read again."""
        local = self.local(wildcards) if wildcards.source == "real" else None
        return state(data.resource(wildcards.dataset), Path(local) if local else None)

    # ---- prepare

    def receipt(self, wildcards: Wildcards) -> str:
        return sources.of_dataset(self.flow.study, wildcards.dataset).receipt(self.flow.paths)

    def spec(self, wildcards: Wildcards) -> DataSpec:
        return self.flow.study.settings.data_spec(wildcards.dataset)

    def effort(self, field: str) -> Callable[[Wildcards], int]:
        """A field of what a preparation asks a cluster for: threads, mem_mb or minutes."""
        return lambda names: getattr(resources.preparing(names.dataset, self.spec(names)["source"]), field)

    # ---- corrupt

    def noise_inputs(self, wildcards: Wildcards) -> Files:
        files = self.flow.data_files(wildcards.dataset)
        for role, name in noise.needs(wildcards.noise).items():
            if role == "images":
                other = self.flow.data_files(name)
                files |= {"images": other["data"], "images_json": other["data_json"]}
            elif role == "human":
                files[role] = self.flow.weights(name, wildcards.dataset)
            else:
                files[role] = self.flow.study.settings.noise_file(name)
        return files

    def noise_settings(self, wildcards: Wildcards) -> Options:
        return self.flow.study.settings.noise(wildcards.noise, wildcards.dataset)

    # ---- features, cost and verify_cost

    def weights(self, wildcards: Wildcards) -> str:
        return self.flow.weights(wildcards.network, wildcards.dataset)

    def cost_inputs(self, wildcards: Wildcards) -> Files:
        """Data, the noisy labels if the cost reads them, and files of the user's."""
        cost, dataset, settings = CostId.parse(wildcards.cost), wildcards.dataset, self.flow.study.settings
        files = self.flow.data_files(dataset)
        if cost.noise is not None and cost.seed is not None:
            files |= self.flow.noise_files(dataset, cost.noise, cost.seed)
        if features := settings.features(cost.name, dataset):
            files |= self._features(features, dataset, cost.noise)
            files.pop("images", None)  # those of open-set noise: their features stand for them
        return files | settings.cost_files(cost.name, dataset)

    def _features(self, features: str, dataset: str, noise_id: str | None) -> Files:
        """Of the dataset, and of the one that open-set noise takes images from."""
        paths, (network, size) = self.flow.paths, features.rsplit("-", 1)
        names = {"dataset": dataset, "network": network, "size": size}
        files = {"features": paths.features.format(**names), "features_json": paths.features_json.format(**names)}
        if noise_id and (other := noise.needs(noise_id).get("images")):
            files["other_features"] = paths.features.format(**(names | {"dataset": other}))
        return files

    def cost_spec(self, wildcards: Wildcards) -> Options:
        """Kind and settings of the cost that a folder such as embed@asym-40@seed0 holds."""
        return self.flow.study.settings.cost(CostId.parse(wildcards.cost).name, wildcards.dataset)

    def cost_uses(self, wildcards: Wildcards) -> list[tuple[float, int]]:
        return self.flow.study.plan.cost_uses.get((wildcards.dataset, wildcards.cost), [])
