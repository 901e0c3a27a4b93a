"""What is done, running, stopped, failed and waiting, from the files alone: usable while a cluster works."""

import csv
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from warlab.artefacts.run_result import RunResult
from warlab.common.progress import duration, seconds_per_epoch
from warlab.config.study import Study
from warlab.engine.lock import is_locked, last_configuration
from warlab.ids import RunId

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


def status(study: Study) -> str:
    """The table of all runs, and how many there are of each state."""
    folder = Path(study.config.get("results_root", "results")) / study.name
    found = [run_state(study, cell, folder) for cell in study.runs]
    counts = Counter(run.state for run in found)
    total = ", ".join(f"{counts[state]} {state}" for state in STATES if counts[state])
    return "\n".join([_table(found), f"{study.name}: {len(found)} runs, {total or 'nothing to train'}"])


def run_state(study: Study, cell: RunId, folder: Path) -> RunState:
    run, epochs = folder / "runs" / cell.path, study.training(cell.dataset, cell.noise, cell.method)["epochs"]
    if (run / "result.json").exists():
        return RunState(cell.path, "done", f"{epochs}/{epochs}", RunResult.load(run / "result.json").summary["last"])
    rows, last = live_rows(run), last_line(folder / "logs" / "train" / f"{cell.path}.log")
    if is_locked(run):
        state, note = "running", ""
    elif last.startswith(_FAILED):
        state, note = "failed", last.removeprefix(_FAILED)
    else:
        state, note = ("stopped", last) if rows else ("waiting", "")
    if not rows:
        return RunState(cell.path, state, f"0/{epochs}" if state == "running" else "", note=note)
    left = (epochs - len(rows)) * seconds_per_epoch([float(row["seconds"]) for row in rows])
    tested = [float(row["test_accuracy"]) for row in rows if row.get("test_accuracy")]
    return RunState(cell.path, state, f"{len(rows)}/{epochs}", tested[-1] if tested else None, left, note)


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
