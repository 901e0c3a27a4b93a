"""What the rules ask that train a run or show data to a trained one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from warlab.artefacts.run_config import Options
from warlab.common.seeds import derive_seed
from warlab.ids import RunId
from warlab.pipeline import resources
from warlab.pipeline.workflow import Row, Wildcards, Workflow, asked_often, row, run_of


@asked_often
@dataclass(frozen=True, eq=False, repr=False)
class TrainJobs:
    """`ancient` is Snakemake's mark for files whose age does not count."""

    flow: Workflow
    ancient: Callable[[str], str]

    def inputs(self, wildcards: Wildcards) -> dict[str, str]:
        files = self.flow.files.to_train(run_of(wildcards))
        if "verified" in files:
            # A cost verified again, say for another lambda, is the same cost: it must not train anything again.
            files["verified"] = self.ancient(files["verified"])
        return files

    def run(self, wildcards: Wildcards) -> Options:
        return self.flow.study.settings.run(run_of(wildcards)).to_dict()

    def train_code(self, wildcards: Wildcards) -> str:
        return self.flow.run_code("train", run_of(wildcards))

    def predict_code(self, wildcards: Wildcards) -> str:
        return self.flow.run_code("predict", run_of(wildcards))

    def segment_code(self, wildcards: Wildcards) -> str:
        return self.flow.run_code("segment", run_of(wildcards))

    def activations_code(self, wildcards: Wildcards) -> str:
        return self.flow.run_code("activations", run_of(wildcards))

    # ---- what a cluster is asked for

    @property
    def threads(self) -> int:
        threads: int = self.flow.study.scale.get("threads", 1)
        return threads

    @cached_property
    def _efforts(self) -> Mapping[str, resources.Effort]:
        spec = self.flow.study.settings.data_spec
        return {name: resources.training(name, spec(name)["source"]) for name in self.flow.study.scale["datasets"]}

    def memory(self, wildcards: Wildcards, attempt: int) -> int:
        return resources.grown(self._efforts[wildcards.dataset].mem_mb, attempt)

    def minutes(self, wildcards: Wildcards) -> int:
        return self._efforts[wildcards.dataset].minutes

    def predict_minutes(self, wildcards: Wildcards) -> int:
        return self._efforts[wildcards.dataset].minutes // 12

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

    def declared(self) -> list[Row] | None:
        """What a given runs.csv is compared with; for our own trainings the files say it."""
        return [row(run) for run in self.flow.study.plan.runs] if self.flow.given else None

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
        number: int = self.flow.study.config.get("verify", derive_seed("verify", date.today().isoformat()))
        return alone[number % len(alone)]

    def verified_file(self, name: str) -> str:
        return f"{self.flow.paths.retrained}/{name}".format(**vars(self.verified))
