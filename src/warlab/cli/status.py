"""What is done, running, stopped, failed and waiting, from the files alone: usable while a cluster works."""

import csv
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from warlab.artefacts.run_result import RunResult
from warlab.common.progress import duration, seconds_per_epoch
from warlab.config.study import Study
from warlab.engine.lock import is_locked, last_configuration
from warlab.ids import RunId
from warlab.pipeline.paths import Paths
from warlab.pipeline.run_times import measured, seconds

STATES = ("done", "running", "stopped", "failed", "waiting")
_FAILED = "warlab: "  # what `warlab.pipeline.script.job` writes before the sentence that ended a job


@dataclass(frozen=True)
class RunState:
    """`stopped` has a checkpoint and no process, and continues when it is called again."""

    run: str
    state: str
    epochs: str = ""
    accuracy: float | None = None
    left: float | None = None  # seconds
    note: str = ""
    whole: float | None = None  # seconds of the whole run, by what it has done


def status(study: Study, root: Path) -> str:
    """The table of all runs, how long the rest takes, and how many there are of each state."""
    folder = Path(Paths.of(study).results)
    found = {run: run_state(study, run, folder) for run in study.plan.runs}
    counts = Counter(run.state for run in found.values())
    total = ", ".join(f"{counts[state]} {state}" for state in STATES if counts[state])
    summary = f"{study.name}: {len(found)} runs, {total or 'nothing to train'}"
    return "\n".join([_table(list(found.values())), *remaining(study, root, found), summary])


def remaining(study: Study, root: Path, found: Mapping[RunId, RunState]) -> list[str]:
    """A line about the time that the rest takes, unless all is done.

    A run that has begun knows it by its own epochs. For the others plan's estimate counts, corrected by how much longer
    or shorter than theirs the runs with a time of their own take.
    """
    rest = {run: state for run, state in found.items() if state.state != "done"}
    if not rest:
        return []
    speed = measured(root)
    took = [state.whole / seconds(study, run, speed) for run, state in found.items() if state.whole]
    slower = median(took) if took else 1.0
    left = [slower * seconds(study, run, speed) if state.left is None else state.left for run, state in rest.items()]
    source = f"by the times of {len(took)} run{'s' * (len(took) > 1)}" if took else "by config/speed.yaml"
    running = sum(state.state == "running" for state in rest.values())
    together = f", {duration(sum(left) / running)} with {running} at a time as now" if running > 1 else ""
    return [f"remaining: about {duration(sum(left))} of training, one run after the other{together} ({source})"]


def run_state(study: Study, cell: RunId, folder: Path) -> RunState:
    name = str(cell)
    run, epochs = folder / "runs" / name, study.settings.training(cell.dataset, cell.noise, cell.method)["epochs"]
    if (run / "result.json").exists():
        result = RunResult.load(run / "result.json")
        took = result.provenance.get("seconds")
        return RunState(name, "done", f"{epochs}/{epochs}", result.summary["last"], whole=took)
    rows, last = live_rows(run), last_line(folder / "logs" / "train" / f"{name}.log")
    if is_locked(run):
        state, note = "running", ""
    elif last.startswith(_FAILED):
        state, note = "failed", last.removeprefix(_FAILED)
    else:
        state, note = ("stopped", last) if rows else ("waiting", "")
    if not rows:
        return RunState(name, state, f"0/{epochs}" if state == "running" else "", note=note)
    epoch = seconds_per_epoch([float(row["seconds"]) for row in rows])
    tested = [float(row["test_accuracy"]) for row in rows if row.get("test_accuracy")]
    accuracy, left = tested[-1] if tested else None, (epochs - len(rows)) * epoch
    return RunState(name, state, f"{len(rows)}/{epochs}", accuracy, left, note, epochs * epoch)


def live_rows(run: Path) -> list[dict[str, str]]:
    """The epochs of an unfinished run, of the configuration that was trained last if there were several."""
    pattern = f"{last_configuration(run) or '*'}/metrics.csv"
    live = sorted((run / "checkpoint").glob(pattern), key=lambda path: path.stat().st_mtime)
    return list(csv.DictReader(live[-1].read_text().splitlines())) if live else []


def last_line(log: Path) -> str:
    """The newest message of a job's log without its time."""
    try:
        lines = log.read_text(errors="replace").splitlines()
    except OSError:
        return ""
    return lines[-1][len("2026-01-01 00:00:00 ") :] if lines else ""


def _table(runs: list[RunState]) -> str:
    width = max([len(run.run) for run in runs], default=3)
    head = f"{'state':9}{'run':{width}}  {'epoch':>8}{'accuracy':>10}  remaining"
    return "\n".join([head, *(_line(run, width) for run in runs)])


def _line(run: RunState, width: int) -> str:
    accuracy = "" if run.accuracy is None else f"{run.accuracy:.2f} %"
    left = "" if run.left is None else duration(run.left)
    return f"{run.state:9}{run.run:{width}}  {run.epochs:>8}{accuracy:>10}  {left:12}{run.note}".rstrip()
