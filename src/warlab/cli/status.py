"""`warlab status` and `warlab audit`: the state of every run and the lists of suspicious labels, read from files alone.

Both can be used while a cluster is training.
"""

import csv
import math
import shutil
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from warlab.artefacts.run_result import RunResult
from warlab.audit.audited_run import read_suspects
from warlab.cli.why import find_changes, run_folder
from warlab.common.progress import duration, seconds_per_epoch
from warlab.common.wording import for_terminal
from warlab.config.study import Study
from warlab.engine.lock import is_locked, last_configuration
from warlab.errors import WarlabError
from warlab.ids import RunId
from warlab.pipeline.given_runs import find_given_runs
from warlab.pipeline.paths import Paths
from warlab.pipeline.run_times import load_run_times

STATES = ("done", "outdated", "running", "stopped", "failed", "waiting")
_FAILED = "warlab: "  # what `warlab.pipeline.script.job` writes before the error that ended a job


@dataclass(frozen=True)
class RunState:
    """A `stopped` run has a checkpoint but no process; it resumes when the command is run again. An `outdated` run has
    a result, but will be trained again; `warlab why` says why."""

    run: str
    state: str
    epochs: str = ""
    accuracy: float | None = None
    left: float | None = None  # seconds
    note: str = ""
    whole: float | None = None  # seconds of the whole run, by the epochs that are done


def status(study: Study, root: Path) -> str:
    """Return a table of all runs, the remaining time, and the number of runs in each state."""
    states = {run: run_state(study, root, run) for run in study.plan.runs}
    width = max([len(run.run) for run in states.values()], default=3)
    head = f"{'state':9}{'run':{width}}  {'epoch':>8}{'accuracy':>10}  remaining"
    lines = [_line(run, width) for run in states.values()]
    return "\n".join([head, *lines, *summary(study, root, states)])


def given_runs(study: Study) -> str:
    """Return how many runs of the study are those that `runs_from` names; nothing is trained then."""
    lines: list[str] = []
    given = find_given_runs(study, lines.append)
    runs = study.plan.runs
    found = sum(given is not None and run in given.epochs for run in runs)
    return "\n".join([*lines, f"{study.name}: {found} of {len(runs)} runs are given by runs_from; nothing is trained"])


def summary(study: Study, root: Path, states: Mapping[RunId, RunState]) -> list[str]:
    """Return the remaining time and the number of runs in each state."""
    counts = Counter(run.state for run in states.values())
    total = ", ".join(f"{counts[state]} {state}" for state in STATES if counts[state])
    return [*remaining(study, root, states), f"{study.name}: {len(states)} runs, {total or 'nothing to train'}"]


EVERY = 10.0  # seconds between two pictures of `watch`
CLEAR = "\x1b[H\x1b[2J"  # the terminal, so that the next picture takes the place of the last one


def watch(study: Study, root: Path) -> str:
    """Print the runs in progress with their share of epochs again and again, in place. Return the summary when all runs
    are done, or after Ctrl-C."""
    done: dict[RunId, RunState] = {}
    lines: list[str] = []
    try:
        while True:
            states = {run: done.get(run) or run_state(study, root, run) for run in study.plan.runs}
            done = {run: state for run, state in states.items() if state.state == "done"}  # not looked at again
            lines = summary(study, root, states)
            begun = [state for state in states.values() if state.state not in ("done", "waiting")]
            terminal = shutil.get_terminal_size()
            rows = begun[: terminal.lines]
            width = max([len(state.run) for state in rows], default=3)
            bars = [f"{_bar(*map(int, (row.epochs or '0/1').split('/')))}  {_line(row, width)}" for row in rows]
            whole = f"{_bar(len(done), len(states))} of all runs are done"
            free = terminal.lines - 2 - sum(_heights([whole, *lines], terminal.columns))
            visible = sum(used <= free for used in accumulate(_heights(bars, terminal.columns)))
            print(CLEAR + "\n".join([whole, *bars[: max(1, visible)], *lines]), flush=True)
            if len(done) == len(states):
                break
            time.sleep(EVERY)
    except KeyboardInterrupt:
        pass
    print(CLEAR, end="")
    return "\n".join(lines)


def _heights(lines: list[str], columns: int) -> list[int]:
    """Return how many lines of a terminal each line takes."""
    return [max(1, math.ceil(len(line) / columns)) for line in lines]


def _bar(done: int, total: int, width: int = 20) -> str:
    share = min(done / max(total, 1), 1)
    full = int(share * width)
    return f"{'█' * full}{'·' * (width - full)} {int(100 * share):3} %"


def _line(run: RunState, width: int) -> str:
    accuracy = "" if run.accuracy is None else f"{run.accuracy:.2f} %"
    left = "" if run.left is None else duration(run.left)
    return f"{run.state:9}{run.run:{width}}  {run.epochs:>8}{accuracy:>10}  {left:12}{run.note}".rstrip()


def remaining(study: Study, root: Path, states: Mapping[RunId, RunState]) -> list[str]:
    """Return a line about the remaining time, unless all runs are done.

    The rest of a run that has begun is estimated from its own epochs, the others as in `warlab plan`, by the runs that
    have begun or finished.
    """
    rest = {run: state for run, state in states.items() if state.state != "done"}
    if not rest:
        return []
    times = load_run_times(study, root, {run: state.whole for run, state in states.items() if state.whole})
    if until := times.unknown(rest):
        return [f"remaining: unknown until {until}"]
    left = [times.seconds_of_run(run) if state.left is None else state.left for run, state in rest.items()]
    running = sum(state.state == "running" for state in rest.values())
    together = f", {duration(sum(left) / running)} with {running} at a time as now" if running > 1 else ""
    return [
        f"remaining: about {duration(sum(left))} of training, one run after the other{together} (by {times.source})"
    ]


def run_state(study: Study, root: Path, cell: RunId) -> RunState:
    name, run = str(cell), run_folder(study, cell)
    epochs = study.settings.training(cell.dataset, cell.noise, cell.method)["epochs"]
    if (run / "result.json").exists():
        return finished_state(study, root, cell, epochs)
    rows, last = live_rows(run), last_line(Path(Paths.of(study).train_log(cell)))
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


def finished_state(study: Study, root: Path, cell: RunId, epochs: int) -> RunState:
    """Return the state of a run that has a result: done, or outdated with the first reason."""
    name = str(cell)
    try:
        changes = find_changes(study, root, cell)
        result = RunResult.load(run_folder(study, cell) / "result.json")
    except WarlabError as error:  # such as a result of an older version of warlab
        return RunState(name, "outdated", note=str(error))
    trained = f"{result.run.training['epochs']}/{epochs}"
    if not changes:
        return RunState(name, "done", trained, result.summary["last"], whole=result.provenance.get("seconds"))
    note = f"{changes[0]} and {len(changes) - 1} more" if len(changes) > 1 else changes[0]
    return RunState(name, "outdated", trained, result.summary["last"], note=note)


def live_rows(run: Path) -> list[dict[str, str]]:
    """Return the epochs of an unfinished run; with several configurations, those of the one that was trained last."""
    pattern = f"{last_configuration(run) or '*'}/metrics.csv"
    try:
        live = sorted((run / "checkpoint").glob(pattern), key=lambda path: path.stat().st_mtime)
        return list(csv.DictReader(live[-1].read_text().splitlines())) if live else []
    except FileNotFoundError:  # the run has ended in this moment and removed its checkpoints
        return []


def last_line(log: Path) -> str:
    """Return the latest message in a job's log, without its time."""
    try:
        lines = log.read_text(errors="replace").splitlines()
    except OSError:
        return ""
    return lines[-1][len("2026-01-01 00:00:00 ") :] if lines else ""


# ---- warlab audit

FIRST = 10  # suspects that are printed
COLUMNS = ("sample", "label", "suggested", "combined", "confident", "wrong")


def audit(study: Study) -> tuple[str, bool]:
    """Return the paths of all lists of suspects and the beginning of one, and whether there is any list."""
    paths, call = Paths.of(study), "snakemake --cores all -- audit"
    files = {run: Path(paths.suspects(run)) for run in study.plan.runs}
    lists = {run: file for run, file in files.items() if file.exists()}
    if not lists:
        return f"There is no list in {paths.results}/audit yet; make them with your settings: {call}", False
    suspects = {run: read_suspects(file) for run, file in lists.items()}
    lines = [f"{len(suspects[run]):7} {file}" for run, file in lists.items()]
    shown = next((run for run in lists if study.settings.cost_name(run)), next(iter(lists)))  # WAR, if there is one
    head = f"{'suspects':>8} list (suspects.png in the same folder shows the first hundred)"
    missing = len(files) - len(lists)
    note = [f"{missing} more runs have no list yet: {call}"] if missing else []
    first = ["", f"The first of {lists[shown]}:", *_first_rows(suspects[shown][:FIRST])]
    return "\n".join([head, *lines, *note, *first]), True


def _first_rows(rows: list[dict[str, str]]) -> list[str]:
    rows = [{name: for_terminal(cell) for name, cell in row.items()} for row in rows]
    columns = [name for name in COLUMNS if any(row[name] for row in rows)]
    widths = {name: max(len(name), *(len(row[name]) for row in rows)) for name in columns}
    cells = [{name: name for name in columns}, *rows]
    return ["  ".join(row[name].ljust(widths[name]) for name in columns).rstrip() for row in cells]
