"""What the rules of the audit of labels ask."""

from dataclasses import dataclass
from functools import cached_property

from warlab import noise
from warlab.ids import RunId
from warlab.pipeline.workflow import Files, Wildcards, Workflow, run_of


@dataclass(frozen=True, eq=False, repr=False)
class AuditJobs:
    flow: Workflow

    def inputs(self, wildcards: Wildcards) -> dict[str, str | list[str]]:
        run = run_of(wildcards)
        return {**self._files(run), "descriptions": self._descriptions(run)}

    def _files(self, run: RunId) -> Files:
        """What the networks of a run said, data and noise, and its ground cost if it has one."""
        patterns = {role: getattr(self.flow.paths, role) for role in ("audit", "data", "noise")}
        files = {role: pattern.format(**vars(run)) for role, pattern in patterns.items()}
        if key := self.flow.study.settings.cost_key(run):
            files["cost"] = self.flow.paths.cost.format(dataset=run.dataset, cost=key)
        if images := noise.needs(run.noise).get("images"):
            files["images"] = self.flow.paths.data.format(dataset=images)
        return files

    def _descriptions(self, run: RunId) -> list[str]:
        """Of the data and the noise, which are read with them."""
        paths = self.flow.paths
        return [pattern.format(**vars(run)) for pattern in (paths.data_json, paths.noise_json)]

    def lists(self, wildcards: Wildcards) -> list[str]:
        return self.flow.unless_given(self.flow.of_runs(self.flow.paths.suspects))

    def table(self) -> list[str]:
        return self.flow.unless_given([f"{self.flow.paths.audit_table}.csv"])

    @cached_property
    def judged(self) -> dict[RunId, Files]:
        """The runs whose wrong labels may be known, and their files."""
        runs = [run for run in self.flow.study.plan.runs if run.noise not in ("clean", noise.REAL)]
        return {run: self._files(run) for run in runs}

    def judged_files(self, wildcards: Wildcards) -> list[str]:
        listed = ((*files.values(), *self._descriptions(run)) for run, files in self.judged.items())
        return sorted({path for paths in listed for path in paths})

    def judged_runs(self) -> list[tuple[dict[str, str | int], Files]]:
        return [(vars(run), files) for run, files in self.judged.items()]

    def shown(self) -> list[str]:
        """What the report shows: the table, and the sheet of the first run that has wrong labels and, as WAR has, a
        ground cost, or of what comes nearest."""
        runs = self.flow.shown_runs()
        if self.flow.given or not runs:
            return []
        return [*self.table(), self.flow.paths.suspects_sheet.format(**vars(min(runs, key=self._rank)))]

    def _rank(self, run: RunId) -> tuple[bool, bool, bool]:
        without_cost = self.flow.study.settings.cost_name(run) is None
        return run not in self.judged, without_cost, run.dataset in self.flow.tiles
