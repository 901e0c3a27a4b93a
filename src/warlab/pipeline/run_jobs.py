"""Inputs, parameters and resources of the rules that train runs, and of those that use the trained networks."""

from collections.abc import Callable
from dataclasses import asdict
from datetime import date
from functools import cached_property
from pathlib import Path

from warlab import data, noise
from warlab.artefacts.run_config import Options
from warlab.common.cache import remembered_digest
from warlab.common.seeds import derive_seed
from warlab.config.settings import IMAGENET
from warlab.ids import RunId
from warlab.methods import METHODS
from warlab.nets import NETS
from warlab.ot import costs
from warlab.pipeline import cluster, sources
from warlab.pipeline.workflow import Files, JobGroup, Wildcards, run_of


class TrainJobs(JobGroup):
    def inputs(self, wildcards: Wildcards) -> Files:
        flow, study, paths, run = self.flow, self.study, self.paths, run_of(wildcards)
        files = flow.data_files(run.dataset) | flow.noise_files(run.dataset, run.noise, run.seed) | flow.cost_file(run)
        if key := study.settings.cost_key(run):
            # Verifying a cost again, for instance for another lambda, does not change it and must not train again.
            files["verified"] = flow.ancient(paths.verified.format(dataset=run.dataset, cost=key))
        if needed := study.plan.needed_run(run):
            files["predictions"] = paths.predictions.format(**vars(needed))
        if weights := study.settings.weights(run.net, run.dataset):
            files["initial"] = flow.receipt(run.dataset, run.net) if weights == IMAGENET else weights
        return files

    def run(self, wildcards: Wildcards) -> Options:
        """The settings of a run."""
        return self.study.settings.run(run_of(wildcards)).to_dict()

    def code(self, script: str) -> Callable[[Wildcards], str]:
        """Return the digest of a script that uses the weights of a run."""
        return self.flow.code_of(script, "method", "net", "samples")

    def modules(self, wildcards: Wildcards) -> dict[str, str]:
        """Return the digests of all code that a run depends on: that of its training, and that of its data, noise and
        ground cost, since Snakemake trains again what depends on a file that is made again."""
        flow, settings, run = self.flow, self.study.settings, run_of(wildcards)
        method = METHODS.module(self.study.numbers.method_file(run.method))
        training = flow.modules("train", method, NETS.module(run.net), f"warlab.engine.{flow.samples[run.dataset]}")
        needs = noise.needs(run.noise)
        datasets = [data.module(name) for name in (run.dataset, needs.get("images"), needs.get("human")) if name]
        parts = [training, flow.modules("fetch", *datasets), flow.modules("prepare", *datasets)]
        parts.append(flow.modules("corrupt", noise.module(run.noise)))
        if cost := settings.cost_name(run):
            parts.append(flow.modules("cost", costs.module(settings.cost_kind(cost, run.dataset))))
            if features := settings.features(cost, run.dataset):
                network = features.rsplit("-", 1)[0]
                parts.append(flow.modules("features", *datasets, NETS.module(network), data.module(network)))
        return {name: part[name] for part in parts for name in part}

    def sources(self, wildcards: Wildcards) -> dict[str, Options]:
        """Return the settings and the checksums of the user's files that data, noise and ground cost are made from."""
        settings, run, needs = self.study.settings, run_of(wildcards), noise.needs(wildcards.noise)
        own = sources.user_files_digest(self.study, run.dataset)
        files = {role: settings.noise_file(name) for role, name in needs.items() if role not in ("images", "human")}
        made = {
            "data": asdict(settings.data_spec(run.dataset)) | ({"files_sha256": own} if own else {}),
            "noise": settings.noise(run.noise, run.dataset) | _checksums(files),
        }
        if "images" in needs:
            made["images"] = asdict(settings.data_spec(needs["images"]))
        if cost := settings.cost_name(run):
            files = settings.cost_files(cost, run.dataset)
            made["cost"] = settings.cost(cost, run.dataset) | _checksums(files)
        return made

    # ---- resources

    @property
    def threads(self) -> int:
        return self.study.scale.get("threads", 1)

    def _effort(self, wildcards: Wildcards) -> cluster.Effort:
        return cluster.training(wildcards.dataset, self.study.settings.data_spec(wildcards.dataset).source)

    def memory(self, wildcards: Wildcards, attempt: int) -> int:
        return cluster.grown(self._effort(wildcards).mem_mb, attempt)

    def minutes(self, wildcards: Wildcards) -> int:
        return self._effort(wildcards).minutes

    def predict_minutes(self, wildcards: Wildcards) -> int:
        return self._effort(wildcards).minutes // 12

    # ---- collect

    def collected(self, wildcards: Wildcards) -> dict[str, str | list[str]]:
        """The files that runs.csv is made from."""
        if self.flow.given:
            return {"given": str(self.flow.given)}
        return {"metrics": self.flow.of_runs(self.paths.metrics), "results": self.flow.of_runs(self.paths.result)}

    def predictions(self, wildcards: Wildcards) -> dict[str, list[str]]:
        """The test predictions of all runs on images; runs on tiles have none."""
        flow = self.flow
        runs = [run for run in self.study.plan.runs if run.dataset not in flow.tiles]
        predictions = flow.of_runs(self.paths.test_predictions, runs)
        return {"predictions": predictions, "truth": flow.of_datasets(self.paths.data, flow.with_images)}

    def declared(self) -> list[list[str | int]] | None:
        """The runs that a given runs.csv must have; our own runs are inputs of the rule."""
        return [[*run.cell, run.seed] for run in self.study.plan.runs] if self.flow.given else None

    # ---- maps

    def mapped_runs(self) -> list[RunId]:
        """The runs whose maps are drawn: the first seed of each run on tiles, in the order of the tables."""
        return [run for run in self.flow.shown_runs() if run.dataset in self.flow.tiles and run.seed == 0]

    def maps(self) -> list[str]:
        return self.flow.of_runs(self.paths.map_labels, self.mapped_runs())

    def all_maps(self) -> list[str]:
        """The maps of the runs, and of the noisy labels that they were trained on; given runs have none."""
        flow = self.flow
        noisy = [run for run in self.study.plan.runs if run.dataset in flow.tiles and run.noise != "clean"]
        return flow.unless_given([*self.maps(), *sorted(set(flow.of_runs(self.paths.noisy_maps, noisy)))])

    # ---- verify

    @cached_property
    def verified(self) -> RunId:
        """The run that `snakemake verify` trains again: another one every day, or the one whose number the
        configuration gives."""
        alone = [run for run in self.study.plan.runs if not self.study.plan.needed_run(run)]
        number = self.study.config.get("verify", derive_seed("verify", date.today().isoformat()))
        return alone[number % len(alone)]

    def verified_file(self, name: str) -> str:
        return f"{self.paths.retrained}/{name}".format(**vars(self.verified))


def _checksums(files: Files) -> Options:
    return {f"{role}_sha256": remembered_digest(Path(path)) for role, path in files.items()}


class AuditJobs(JobGroup):
    def inputs(self, wildcards: Wildcards) -> dict[str, str | list[str]]:
        run = run_of(wildcards)
        return {**self._files(run), "descriptions": self._descriptions(run)}

    def _files(self, run: RunId) -> Files:
        """The recorded predictions of a run, its data and noise, and its ground cost if it has one."""
        patterns = {role: getattr(self.paths, role) for role in ("audit", "data", "noise")}
        files = {role: pattern.format(**vars(run)) for role, pattern in patterns.items()} | self.flow.cost_file(run)
        if images := noise.needs(run.noise).get("images"):
            files["images"] = self.paths.data.format(dataset=images)
        return files

    def _descriptions(self, run: RunId) -> list[str]:
        """The descriptions of the data and the noise, which are read together with the arrays."""
        return [pattern.format(**vars(run)) for pattern in (self.paths.data_json, self.paths.noise_json)]

    def lists(self, wildcards: Wildcards) -> list[str]:
        return self.flow.unless_given(self.flow.of_runs(self.paths.suspects))

    def table(self) -> list[str]:
        return self.flow.unless_given([f"{self.paths.audit_table}.csv"])

    @cached_property
    def judged(self) -> dict[RunId, Files]:
        """The runs whose wrong labels may be known, and their files."""
        runs = [run for run in self.study.plan.runs if run.noise not in ("clean", noise.REAL)]
        return {run: self._files(run) for run in runs}

    def judged_files(self, wildcards: Wildcards) -> list[str]:
        listed = ((*files.values(), *self._descriptions(run)) for run, files in self.judged.items())
        return sorted({path for paths in listed for path in paths})

    def judged_runs(self) -> list[tuple[dict[str, str | int], Files]]:
        return [(vars(run), files) for run, files in self.judged.items()]

    def shown(self) -> list[str]:
        """The table and the one contact sheet that the report shows, if possible of a WAR run with wrong labels."""
        runs = self.flow.shown_runs()
        if self.flow.given or not runs:
            return []
        return [*self.table(), self.paths.suspects_sheet.format(**vars(min(runs, key=self._rank)))]

    def _rank(self, run: RunId) -> tuple[bool, bool, bool]:
        """Preferred runs come first: wrong labels, a ground cost, images."""
        without_cost = self.study.settings.cost_name(run) is None
        return run not in self.judged, without_cost, run.dataset in self.flow.tiles
