"""What the rules ask that train runs, use the trained networks, or read all runs."""

import math
from datetime import date
from functools import cached_property
from typing import Any

from warlab import noise
from warlab.artefacts.run_config import Options
from warlab.common.seeds import derive_seed
from warlab.config.plan import CostUse
from warlab.config.settings import IMAGENET
from warlab.ids import RunId
from warlab.pipeline import sources
from warlab.pipeline.paths import IN_RULES
from warlab.pipeline.run_times import RunTimes, load_run_times
from warlab.pipeline.sources import code_of_run, sources_of_run
from warlab.pipeline.workflow import TRAINING, JobGroup, Wildcards

MOST_TRIES = 3  # the memory grows with every try, up to this one
CAUTION, START = 3, 10  # a training requests this many times its estimated time, and these minutes


def run_of(wildcards: Wildcards) -> RunId:
    return RunId(wildcards.dataset, wildcards.noise, wildcards.net, wildcards.method, int(wildcards.seed))


class RunJobs(JobGroup):
    # ---- one run

    def settings(self, wildcards: Wildcards) -> Options:
        return self.study.settings.run(run_of(wildcards)).to_dict()

    def cost_use(self, wildcards: Wildcards) -> list[CostUse]:
        """Return a run's ground cost and the settings of its transport, if its method has one."""
        use = self.study.plan.cost_use(run_of(wildcards))
        return [use] if use else []

    def needed_run(self, wildcards: Wildcards) -> list[RunId]:
        """Return the CCE run whose predictions a run of Forward or Backward reads."""
        needed = self.study.plan.needed_run(run_of(wildcards))
        return [needed] if needed else []

    def initial_weights(self, wildcards: Wildcards) -> list[str]:
        """Return the user's weights, or the receipt of the fetched ones, if the network does not start from random."""
        weights = self.study.settings.weights(wildcards.net, wildcards.dataset)
        if weights == IMAGENET:
            fetched = sources.find_source(self.study, wildcards.dataset, wildcards.net)
            return [IN_RULES.receipt(fetched.name, fetched.folder)]
        return [weights] if weights else []

    def modules(self, wildcards: Wildcards) -> dict[str, str]:
        """Return the digests of all code that a run depends on."""
        return code_of_run(self.study, self.flow.root, run_of(wildcards))

    def sources(self, wildcards: Wildcards) -> dict[str, Options]:
        """Return what the input files of a run are made from."""
        return sources_of_run(self.study, run_of(wildcards))

    # ---- resources

    @property
    def threads(self) -> int:
        return self.study.scale.get("threads", 1)

    def memory(self, wildcards: Wildcards, attempt: int) -> int:
        """Return the memory of a job at its first, second or third attempt."""
        return self.effort_for(wildcards.dataset, TRAINING).mem_mb * min(attempt, MOST_TRIES)

    def minutes(self, wildcards: Wildcards, attempt: int) -> int:
        """Return the time limit of a training, by its estimated time where that is known."""
        most, run = self._longest(wildcards), run_of(wildcards)
        estimate = CAUTION * self._times.seconds_of_run(run) / 60
        return most if self._times.unknown([run]) else min(most, attempt * math.ceil(estimate + START))

    def _longest(self, wildcards: Wildcards) -> int:
        return self.effort_for(wildcards.dataset, TRAINING).minutes

    @cached_property
    def _times(self) -> RunTimes:
        return load_run_times(self.study, self.flow.root)

    def predict_minutes(self, wildcards: Wildcards) -> int:
        return self._longest(wildcards) // 12

    # ---- all runs; with the runs of a finished study (`runs_from`) nothing is prepared or trained here

    @property
    def trained_here(self) -> bool:
        """Whether there are trainings; a study may have given runs instead, or only measure times."""
        return self.flow.given is None and bool(self.study.plan.runs)

    def trained(self, wildcards: Wildcards | None = None) -> list[RunId]:
        return self.study.plan.runs if self.trained_here else []

    def trained_on_images(self, wildcards: Wildcards) -> list[RunId]:
        return [run for run in self.trained() if run.dataset not in self.flow.tile_datasets]

    def datasets(self, wildcards: Wildcards) -> list[str]:
        return self.flow.datasets if self.trained_here else []

    def noisy_labels(self, wildcards: Wildcards) -> list[str]:
        """Return the noisy labels of all runs, such as cifar10/asym-40/seed0, each once: several runs share them."""
        return sorted({f"{run.dataset}/{run.noise}/seed{run.seed}" for run in self.trained()})

    def ground_costs(self, wildcards: Wildcards) -> list[str]:
        """Return the folders of the ground costs of all runs, each once."""
        return sorted({use.cost for use in self.cost_uses(wildcards)})

    def cost_uses(self, wildcards: Wildcards) -> list[CostUse]:
        return sorted({use for run in self.trained() if (use := self.study.plan.cost_use(run))})

    @property
    def given(self) -> list[str]:
        """The table of finished runs that replaces our own."""
        return [] if self.flow.given is None else [str(self.flow.given.file)]

    @property
    def given_predictions(self) -> list[str]:
        """The test predictions of finished runs; older studies have none."""
        files = [] if self.flow.given is None else [self.flow.given.file.with_name("test_predictions.npz")]
        return [str(file) for file in files if file.is_file()]

    def declared(self) -> list[list[str | int]] | None:
        """Return the runs that a table of finished runs must have; our own runs are inputs of the rule."""
        return None if self.flow.given is None else [[*run.cell, run.seed] for run in self.study.plan.runs]

    # ---- maps

    def mapped(self, wildcards: Wildcards) -> list[RunId]:
        """Return the runs whose maps are drawn: the first seed of each run on tiles, in the order of the tables."""
        runs = self.flow.shown_runs() if self.trained_here else []
        return [run for run in runs if run.dataset in self.flow.tile_datasets and run.seed == 0]

    def mapped_labels(self, wildcards: Wildcards) -> list[str]:
        """Return the folders of the noisy labels of tiles whose maps are drawn."""
        runs = [run for run in self.trained() if run.dataset in self.flow.tile_datasets and run.noise != "clean"]
        return sorted({f"{run.dataset}/{run.noise}/training_labels/seed{run.seed}" for run in runs})

    # ---- verify

    def retrained(self, wildcards: Wildcards | None = None) -> list[RunId]:
        """Return the run that `snakemake verify` trains again: a different one each day, or the one whose number the
        configuration gives; none in a study that trains nothing.

        Only the target reads the date. The jobs that it starts have the run in the names of their files, and do the
        same after midnight.
        """
        study, given = self.study, self.flow.given
        reported = [run for run in study.plan.runs if given is None or run in given.epochs]
        alone = [run for run in reported if not study.plan.needed_run(run)]
        number = study.config.get("verify", derive_seed("verify", date.today().isoformat()))
        return [alone[number % len(alone)]] if alone else []


class AuditJobs(JobGroup):
    def judged(self, wildcards: Wildcards | None = None) -> list[RunId]:
        """Return the runs whose wrong labels may be known."""
        return [run for run in self.study.plan.runs if _may_be_known(run)]

    def ground_costs(self, wildcards: Wildcards) -> list[str]:
        """Return the folder of the ground cost of each judged run that has one."""
        return [names["cost"] for names in map(self._extras, self.judged()) if "cost" in names]

    def open_set_images(self, wildcards: Wildcards) -> list[str]:
        """Return the dataset of the inserted images for each judged run with open-set noise."""
        return [names["images"] for names in map(self._extras, self.judged()) if "images" in names]

    def _extras(self, run: RunId) -> dict[str, str]:
        cost, images = self.study.settings.cost_key(run), noise.needs(run.noise).get("images")
        return ({"cost": f"{run.dataset}/{cost}"} if cost else {}) | ({"images": images} if images else {})

    def files_by_run(self, wildcards: Wildcards, input: Any) -> list[tuple[dict[str, str | int], dict[str, str]]]:
        """Return each judged run with its files; the lists of costs and images have only runs that have them."""
        lists = {role: iter(input[role]) for role in ("audit", "data", "noise", "cost", "images")}
        roles = {run: ("audit", "data", "noise", *self._extras(run)) for run in self.judged()}
        return [(vars(run), {role: next(lists[role]) for role in roles[run]}) for run in roles]

    def shown(self, wildcards: Wildcards) -> list[RunId]:
        """Return the run whose suspicious labels the report shows: wrong labels, a ground cost and images are preferred
        in this order."""

        def rank(run: RunId) -> tuple[bool, bool, bool]:
            return (
                not _may_be_known(run),
                self.study.settings.cost_name(run) is None,
                run.dataset in self.flow.tile_datasets,
            )

        return sorted(self.flow.shown_runs() if self.flow.given is None else [], key=rank)[:1]


def _may_be_known(run: RunId) -> bool:
    return run.noise not in ("clean", noise.REAL)
