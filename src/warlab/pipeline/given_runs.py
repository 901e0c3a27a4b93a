"""The runs of a finished study that `runs_from` names; they replace our own trainings."""

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from warlab.common.files import read_json
from warlab.common.wording import several
from warlab.config.study import Study
from warlab.errors import WarlabError
from warlab.ids import RunId
from warlab.pipeline.paths import Paths


@dataclass(frozen=True)
class GivenRuns:
    """A table with a row per run and epoch: the last epoch of each run, and the datasets that were stand-ins."""

    file: Path
    columns: set[str]  # that have a value
    epochs: dict[RunId, int]
    stand_ins: set[str]


def read_given_runs(path: Path) -> GivenRuns:
    """Read the table without pandas, which every job on a cluster would have to import."""
    with path.open(newline="") as file:
        reader = csv.DictReader(file)
        rows = [row for row in reader if row.get("epoch")]  # a row without an epoch stands for a missing run
    epochs: dict[RunId, int] = {}
    seen: set[tuple[RunId, int]] = set()
    try:
        for row in rows:
            run = RunId(row["dataset"], row["noise"], row["net"], row["method"], int(row["seed"]))
            epoch = int(float(row["epoch"]))
            if (run, epoch) in seen:
                raise WarlabError(f"{path} has epoch {epoch} of {run} twice; remove the second copy.")
            seen.add((run, epoch))
            epochs[run] = max(epochs.get(run, 0), epoch)
        stand_ins = {row["dataset"] for row in rows if row["data"] == "stand-in"}
    except (KeyError, TypeError, ValueError) as error:
        raise WarlabError(f"{path} cannot be read ({error}); runs_from needs the runs.csv of a study.") from None
    columns = {name for name in reader.fieldnames or () if any(row[name] for row in rows)}
    return GivenRuns(path, columns, epochs, stand_ins)


def find_given_runs(study: Study, tell: Callable[[str], object]) -> GivenRuns | None:
    """Return the finished runs of the study, and tell which are missing. Refuse those of another study: the ids of runs
    are the same at all scales."""
    folder = Path(study.config.get("runs_from", ""))
    if folder == Path():
        return None
    if not (folder / "runs.csv").is_file():
        raise WarlabError(f"runs_from names {folder}, which has no runs.csv; name the folder of a finished study.")
    if folder.resolve() == Path(Paths.of(study).results).resolve():
        raise WarlabError(f"runs_from names {folder}, where the results of this scale are; leave runs_from out.")
    given, declared = read_given_runs(folder / "runs.csv"), set(study.plan.runs)
    for contradiction in _contradictions(study, given):
        raise WarlabError(f"{given.file} was not made with the scale {study.name}: {contradiction}; choose its scale.")
    missing = [run for run in study.plan.runs if run not in given.epochs]
    if len(missing) == len(study.plan.runs):
        raise WarlabError(f"{given.file} has no run of the scale {study.name}; choose the scale of its runs.")
    others = [run for run in given.epochs if run not in declared]
    if missing:
        tell(f"{given.file} lacks {several(len(missing), 'run')} of this scale, such as {missing[0]}: gaps in tables.")
    if others:
        tell(f"{given.file} has {several(len(others), 'run')} that this scale leaves out, such as {others[0]}.")
    return given


def _contradictions(study: Study, given: GivenRuns) -> Iterator[str]:
    """Yield what says that the runs belong to another study."""
    evidence = given.file.with_name("evidence.json")
    scale = read_json(evidence).get("scale", study.name) if evidence.is_file() else study.name
    if scale != study.name:
        yield f"{evidence.name} names {scale}"
    for run in (run for run in study.plan.runs if run in given.epochs):
        expected = study.settings.training(run.dataset, run.noise, run.method)["epochs"]
        if given.epochs[run] != expected:
            yield f"{run} has {given.epochs[run]} epochs instead of {expected}"
        is_stand_in = study.settings.data_spec(run.dataset).source == "stand_in"
        if is_stand_in != (run.dataset in given.stand_ins):
            yield f"{run} was trained on {'real data' if is_stand_in else 'a stand-in'}"
