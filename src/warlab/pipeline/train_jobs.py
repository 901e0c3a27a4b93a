"""What the rules ask that train a run or show data to a trained one."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from warlab.artefacts.run_config import Options
from warlab.common.seeds import derive_seed
from warlab.config.settings import IMAGENET
from warlab.ids import RunId
from warlab.pipeline import resources
from warlab.pipeline.workflow import Files, Wildcards, Workflow, run_of


@dataclass(frozen=True, eq=False, repr=False)
class TrainJobs:
    """`ancient` is Snakemake's mark for files whose age does not count."""

    flow: Workflow
    ancient: Callable[[str], str]

    def inputs(self, wildcards: Wildcards) -> Files:
        study, paths, run = self.flow.study, self.flow.paths, run_of(wildcards)
        files = self.flow.data_files(run.dataset) | self.flow.noise_files(run.dataset, run.noise, run.seed)
        if key := study.settings.cost_key(run):
            files["cost"] = paths.cost.format(dataset=run.dataset, cost=key)
            # A cost verified again, say for another lambda, is the same cost: it must not train anything again.
            files["verified"] = self.ancient(paths.verified.format(dataset=run.dataset, cost=key))
        if needed := study.plan.needed_run(run):
            files["predictions"] = paths.predictions.format(**vars(needed))
        if weights := study.settings.weights(run.net, run.dataset):
            fetched = weights == IMAGENET
            files["initial"] = self.flow.weights(run.net, run.dataset) if fetched else weights
        return files

    def run(self, wildcards: Wildcards) -> Options:
        return self.flow.study.settings.run(run_of(wildcards)).to_dict()

    def code(self, script: str) -> Callable[[Wildcards], str]:
        """The code behind a run's weights, or behind what another script makes of them."""
        return self.flow.code_of(script, "method", "net", "samples")

    # ---- what a cluster is asked for

    @property
    def threads(self) -> int:
        return self.flow.study.scale.get("threads", 1)

    def _effort(self, wildcards: Wildcards) -> resources.Effort:
        return resources.training(wildcards.dataset, self.flow.study.settings.data_spec(wildcards.dataset)["source"])

    def memory(self, wildcards: Wildcards, attempt: int) -> int:
        return resources.grown(self._effort(wildcards).mem_mb, attempt)

    def minutes(self, wildcards: Wildcards) -> int:
        return self._effort(wildcards).minutes

    def predict_minutes(self, wildcards: Wildcards) -> int:
        return self._effort(wildcards).minutes // 12

    # ---- collect

    def collected(self, wildcards: Wildcards) -> dict[str, str | list[str]]:
        """What runs.csv is made of."""
        flow, paths = self.flow, self.flow.paths
        if flow.given:
            return {"given": str(flow.given)}
        return {"metrics": flow.of_runs(paths.metrics), "results": flow.of_runs(paths.result)}

    def predictions(self, wildcards: Wildcards) -> dict[str, list[str]]:
        """What the file of all test predictions is made of; of tiles there are none."""
        flow, paths = self.flow, self.flow.paths
        runs = [run for run in flow.study.plan.runs if run.dataset not in flow.tiles]
        return {
            "predictions": flow.of_runs(paths.test_predictions, runs),
            "truth": flow.of_datasets(paths.data, flow.with_images),
        }

    def declared(self) -> list[list[str | int]] | None:
        """What a given runs.csv is compared with; for our own trainings the files say it."""
        return [[*run.cell, run.seed] for run in self.flow.study.plan.runs] if self.flow.given else None

    # ---- maps

    def mapped_runs(self) -> list[RunId]:
        """The runs whose maps are made: the first seed, in the order of their table."""
        return [run for run in self.flow.shown_runs() if run.dataset in self.flow.tiles and run.seed == 0]

    def maps(self) -> list[str]:
        return self.flow.of_runs(self.flow.paths.map_labels, self.mapped_runs())

    def all_maps(self) -> list[str]:
        """Maps of the runs, and of what they were trained on where that is not the truth; given runs have none."""
        flow = self.flow
        noisy = [run for run in flow.study.plan.runs if run.dataset in flow.tiles and run.noise != "clean"]
        return flow.unless_given([*self.maps(), *sorted(set(flow.of_runs(flow.paths.noisy_maps, noisy)))])

    # ---- verify

    @cached_property
    def verified(self) -> RunId:
        """The run that `snakemake verify` trains again: the one of the day, or the number that the configuration
        gives."""
        alone = [run for run in self.flow.study.plan.runs if not self.flow.study.plan.needed_run(run)]
        number = self.flow.study.config.get("verify", derive_seed("verify", date.today().isoformat()))
        return alone[number % len(alone)]

    def verified_file(self, name: str) -> str:
        return f"{self.flow.paths.retrained}/{name}".format(**vars(self.verified))
