"""Real training processes that are killed, stopped, starved of disk space or fed damaged files: nothing is lost.

tests/engine/test_engine.py and test_checkpoint.py have more of this kind: two writers, a loss that is NaN, processes
that die while they save, and foreign or damaged checkpoints.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.faults.counting import count, long
from tests.helpers.checkout import PATIENCE
from tests.helpers.runs import assert_same, resolved, run_training, start, wait_for, write_files
from warlab.common.files import read_json
from warlab.engine import checkpoint, provenance
from warlab.engine.build import RunFiles
from warlab.engine.lock import only_writer

EPOCHS = 6
METHODS = ["war_w2v", "coteaching", "pencil", "jof", "coteaching_plus", "gce_truncated", "iterative", "cce"]
KILLED = METHODS if long() else METHODS[:4]
KILLS = (100 if long() else 8) // len(KILLED) + 1  # of each method


class ForkServer:
    """Starts trainings without delay; see tests/faults/fork_server.py."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.faults.fork_server"]
        self.process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, line: str) -> int:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def start(self, run: dict, files: RunFiles, out: Path) -> int:
        named = {name: str(path) for name, path in vars(files).items() if path}
        return self.ask(json.dumps({"run": run, "files": named, "out": str(out)}))

    def exit_code(self, pid: int) -> int:
        """Wait for a process and return its exit code."""
        return self.ask(f"exit {pid}")

    def train(self, run: dict, files: RunFiles, out: Path) -> int:
        """Train to the end, and return the exit code."""
        return self.exit_code(self.start(run, files, out))

    def interrupt(self, run: dict, files: RunFiles, out: Path, epoch: int, number: int = signal.SIGKILL) -> int:
        """Train, send a signal once this epoch is in the log, and return the exit code."""
        pid = self.start(run, files, out)
        wait_for(out / "log.txt", f"epoch {epoch}/")
        os.kill(pid, number)
        return self.exit_code(pid)


@pytest.fixture(scope="module")
def fork_server() -> Iterator[ForkServer]:
    one = ForkServer()
    yield one
    assert one.process.stdin
    one.process.stdin.close()
    one.process.wait(PATIENCE)


@dataclass(frozen=True)
class Calm:
    """A run that was not disturbed: what it was made of, where it is, and how long its training took."""

    run: dict
    files: RunFiles
    out: Path

    @property
    def seconds(self) -> float:
        return read_json(self.out / "result.json")["provenance"]["seconds"]


Trained = Callable[[str], Calm]


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """Train a method once, for all tests that disturb it."""

    @cache
    def train(method: str) -> Calm:
        folder = tmp_path_factory.mktemp(method)
        made = Calm(resolved(method, epochs=EPOCHS), write_files(folder, n=120, noise="sym-40"), folder / "calm")
        run_training(made.run, made.files, made.out)
        return made

    return train


# ---- killed


@pytest.mark.parametrize("method", KILLED)
def test_a_run_killed_at_random_moments_ends_with_the_same_bits(
    method: str, calm: Trained, tmp_path: Path, fork_server: ForkServer
) -> None:
    """Two networks, label tables, new networks in the middle: all that a method keeps is saved."""
    one = calm(method)
    out, kills, rounds = tmp_path / "killed", 0, 0
    while kills < KILLS:
        assert rounds < 50 * KILLS
        rounds += 1
        pid = fork_server.start(one.run, one.files, out)
        time.sleep(0.02 + random.random() * one.seconds)  # from the reading of files to past the last epoch
        os.kill(pid, signal.SIGKILL)  # a process that has ended stays until its exit code is asked for
        if fork_server.exit_code(pid) == 0:
            assert_same(one.out, out)
            out = tmp_path / f"killed{rounds}"
        else:
            kills += 1
            count("SIGKILL")
    assert fork_server.train(one.run, one.files, out) == 0
    assert_same(one.out, out)
    assert [file.name for file in out.glob(".*")] == [".lock"] and not (out / "checkpoint").exists()


def test_half_written_files_of_killed_processes_are_removed(tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "checkpoint" / "0123").mkdir(parents=True)
    litter = [out / ".weights.pt.abc", out / "checkpoint" / "0123" / ".latest.ckpt.abc"]
    for file in litter:
        file.write_bytes(b"half")
    of_another_job = out / ".predictions.npz.abc"  # it may be writing, and does not take this lock
    of_another_job.write_bytes(b"half")
    with only_writer(out):
        assert not any(file.exists() for file in litter) and of_another_job.exists()


# ---- without an installed warlab


def test_a_package_that_is_missing_loses_no_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance, "PACKAGES", ("torch", "no-such-package"))
    run_training(resolved("cce", epochs=1), write_files(tmp_path), tmp_path / "out")
    versions = read_json(tmp_path / "out" / "result.json")["provenance"]["versions"]
    assert versions["no-such-package"] == "not installed" and versions["torch"] != "not installed"


# ---- stopped


# ---- disks


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system that can be filled or made read-only."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4m", "warlab-test", str(place)]
    if os.getuid() != 0 or subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("only root can mount a small disk; this test was left out")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def train_on_disk(one: Calm, out: Path) -> tuple[int, str]:
    """Train in a process of its own, and return its exit code and what it printed."""
    process = start(one.run, one.files, out)
    _, printed = process.communicate(timeout=PATIENCE)
    assert "Traceback" not in printed
    return process.returncode, printed


def test_a_full_disk_keeps_the_last_checkpoint_and_the_run_resumes_once_there_is_space(
    calm: Trained, small_disk: Path
) -> None:
    one, out, filler = calm("war_w2v"), small_disk / "out", small_disk / "filler"
    process = start(one.run, one.files, out)
    wait_for(out / "log.txt", "epoch 2/")
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
    _, printed = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1 and "No space left on device); free some space and run the command again" in printed
    assert "Traceback" not in printed
    (latest,) = out.glob("checkpoint/*/latest.ckpt")
    assert checkpoint._content(latest) is not None, "the last checkpoint is intact"
    assert not (out / "result.json").exists()
    filler.unlink()
    code, printed = train_on_disk(one, out)
    assert code == 0 and "resumed from epoch" in printed
    assert_same(one.out, out)
    count("disk full")


def test_a_read_only_folder_is_one_sentence(calm: Trained, small_disk: Path) -> None:
    one, out = calm("cce"), small_disk / "out"
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    code, printed = train_on_disk(one, out)
    assert code == 1 and "the file system is read-only, choose another results_root" in printed
    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    assert train_on_disk(one, out)[0] == 0
    assert_same(one.out, out)
    count("read-only folder")


# ---- damaged


@pytest.mark.parametrize("damage", ["flip", "gone"])
def test_a_run_with_a_damaged_checkpoint_falls_back_says_so_and_ends_with_the_same_bits(
    damage: str, calm: Trained, tmp_path: Path, fork_server: ForkServer
) -> None:
    one, out = calm("coteaching"), tmp_path / "damaged"
    assert fork_server.interrupt(one.run, one.files, out, 3) == -signal.SIGKILL
    (latest,) = out.glob("checkpoint/*/latest.ckpt")
    content = bytearray(latest.read_bytes())
    content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    latest.write_bytes(content)
    if damage == "gone":
        latest.unlink()
    assert fork_server.train(one.run, one.files, out) == 0
    log = (out / "log.txt").read_text()
    assert ("latest.ckpt is damaged; falling back" in log) == (damage != "gone") and "resumed from epoch" in log
    assert_same(one.out, out)
    count("damaged checkpoint")


def test_a_run_resumes_from_its_latest_checkpoint_after_the_clock_was_set_back(
    calm: Trained, tmp_path: Path, fork_server: ForkServer
) -> None:
    """The files of the interrupted run are from tomorrow, the previous checkpoint is younger than the latest."""
    one, out = calm("pencil"), tmp_path / "tomorrow"
    fork_server.interrupt(one.run, one.files, out, 3)
    for file in out.rglob("*"):
        os.utime(file, (time.time() + 86400 + 3600 * (file.name == "previous.ckpt"),) * 2)
    assert fork_server.train(one.run, one.files, out) == 0
    log = (out / "log.txt").read_text()
    assert "damaged" not in log and int(log.split("resumed from epoch ")[1].split(",")[0]) >= 3
    assert_same(one.out, out)
    count("clock set back")
