"""What the rules of data, noise and ground costs ask."""

from dataclasses import dataclass
from pathlib import Path

from warlab import data, noise
from warlab.data.user_data import state
from warlab.ids import CostId
from warlab.pipeline import resources, sources
from warlab.pipeline.job_inputs import Files
from warlab.pipeline.workflow import Wildcards, Workflow, asked_often


@asked_often
@dataclass(frozen=True, eq=False, repr=False)
class DataJobs:
    flow: Workflow

    def everything(self, wildcards: Wildcards) -> list[str]:
        """Everything that needs a network or a folder of the owners, and all prepared data."""
        study, paths = self.flow.study, self.flow.paths
        receipts = [needed.receipt(paths.raw) for needed in sources.needed(study)]
        return receipts + self.flow.of_datasets(paths.data, sources.datasets(study))

    # ---- fetch

    def local(self, wildcards: Wildcards) -> str | None:
        """The user's own folder."""
        folder: str | None = self.flow.study.config.get("local_data", {}).get(wildcards.dataset)
        return folder

    def local_state(self, wildcards: Wildcards) -> str | None:
        """The user's own data may change where they are: then they are read again."""
        local = self.local(wildcards) if wildcards.source == "real" else None
        return state(data.resource(wildcards.dataset), Path(local) if local else None)

    def fetch_code(self, wildcards: Wildcards) -> str:
        return self.flow.code("fetch", data.module(wildcards.dataset))

    # ---- prepare

    def receipt(self, wildcards: Wildcards) -> str:
        return self.flow.files.receipt(wildcards.dataset)

    def spec(self, wildcards: Wildcards) -> object:
        return self.flow.study.data_spec(wildcards.dataset)

    def _effort(self, wildcards: Wildcards) -> resources.Effort:
        return resources.preparing(wildcards.dataset, self.flow.study.data_spec(wildcards.dataset)["source"])

    def prepare_threads(self, wildcards: Wildcards) -> int:
        return self._effort(wildcards).threads

    def prepare_memory(self, wildcards: Wildcards) -> int:
        return self._effort(wildcards).mem_mb

    def prepare_minutes(self, wildcards: Wildcards) -> int:
        return self._effort(wildcards).minutes

    def prepare_code(self, wildcards: Wildcards) -> str:
        return self.flow.code("prepare", data.module(wildcards.dataset))

    # ---- corrupt

    def noise_inputs(self, wildcards: Wildcards) -> Files:
        return self.flow.files.to_corrupt(wildcards.dataset, wildcards.noise)

    def noise_settings(self, wildcards: Wildcards) -> object:
        return self.flow.study.noise(wildcards.noise, wildcards.dataset)

    def noise_code(self, wildcards: Wildcards) -> str:
        return self.flow.code("corrupt", noise.module(wildcards.noise))

    # ---- features, cost and verify_cost

    def weights(self, wildcards: Wildcards) -> str:
        return self.flow.files.weights(wildcards.network, wildcards.dataset)

    def features_code(self, wildcards: Wildcards) -> str:
        modules = data.module(wildcards.dataset), data.module(wildcards.network), f"warlab.nets.{wildcards.network}"
        return self.flow.code("features", *modules)

    def cost_inputs(self, wildcards: Wildcards) -> Files:
        return self.flow.files.to_make_cost(wildcards.dataset, wildcards.cost)

    def cost_spec(self, wildcards: Wildcards) -> object:
        """Kind and settings of the cost that a folder such as embed@asym-40@seed0 holds."""
        return self.flow.study.cost(CostId.parse(wildcards.cost).name, wildcards.dataset)

    def cost_uses(self, wildcards: Wildcards) -> list[tuple[float, int]]:
        return self.flow.study.cost_uses(wildcards.dataset, wildcards.cost)
