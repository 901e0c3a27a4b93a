"""Real training processes that are killed, stopped, starved of disk space or fed damaged files: nothing is lost.

Further named tests of the same kind, tests/engine/test_engine.py: two writers, a foreign checkpoint, a loss that
is NaN.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.faults.counting import count, long
from tests.helpers.deaths import Death, dying_after
from tests.helpers.runs import assert_same, resolved, start, wait_for, write_files
from warlab.artefacts.run_config import RunConfig
from warlab.common.files import read_json
from warlab.engine import checkpoint
from warlab.engine.build import RunFiles
from warlab.engine.checkpoint import CheckpointFolder
from warlab.engine.lock import only_writer
from warlab.engine.run import train_run

EPOCHS = 6
METHODS = ["war_w2v", "coteaching", "pencil", "jof", "coteaching_plus", "gce_truncated", "iterative", "cce"]
KILLS = 100 if long() else 8


class Nursery:
    """Starts trainings at once; see tests/faults/nursery.py."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.faults.nursery"]
        self.process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, line: str) -> int:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def start(self, run: dict, files: RunFiles, out: Path) -> int:
        named = {name: str(path) for name, path in vars(files).items() if path}
        return self.ask(json.dumps({"run": run, "files": named, "out": str(out)}))

    def exit(self, pid: int) -> int:
        return self.ask(f"exit {pid}")


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    one = Nursery()
    yield one
    assert one.process.stdin
    one.process.stdin.close()
    one.process.wait(20)


def calm(folder: Path, method: str) -> tuple[dict, RunFiles, float]:
    """An undisturbed run in folder/calm, what it was made of, and how long its training took."""
    run, files = resolved(method, epochs=EPOCHS), write_files(folder, n=120, noise="sym-40")
    train_run(RunConfig.from_dict(run), {}, files, folder / "calm", 1)
    return run, files, read_json(folder / "calm" / "result.json")["provenance"]["seconds"]


# ---- killed


@pytest.mark.parametrize("method", METHODS if long() else METHODS[:4])
def test_killed_at_random_moments_it_ends_at_the_same_bits(method: str, tmp_path: Path, nursery: Nursery) -> None:
    """Two networks, label tables, fresh networks in the middle: whatever a method keeps, it keeps."""
    run, files, seconds = calm(tmp_path, method)
    out, kills, rounds = tmp_path / "killed", 0, 0
    share = KILLS // (len(METHODS) if long() else 4) + 1
    while kills < share:
        assert rounds < 50 * share
        rounds += 1
        pid = nursery.start(run, files, out)
        time.sleep(0.02 + random.random() * seconds)  # from the reading of files to past the last epoch
        os.kill(pid, signal.SIGKILL)  # a process that has ended stays until it is asked for
        if nursery.exit(pid) == 0:
            assert_same(tmp_path / "calm", out)
            out = tmp_path / f"killed{rounds}"
        else:
            kills += 1
            count("SIGKILL")
    assert nursery.exit(nursery.start(run, files, out)) == 0
    assert_same(tmp_path / "calm", out)
    assert [file.name for file in out.glob(".*")] == [".lock"] and not (out / "checkpoint").exists()


@pytest.mark.parametrize("step", range(10))
def test_ended_at_any_step_of_a_save_the_old_or_the_new_state_is_there(
    step: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = CheckpointFolder(tmp_path, "id")
    for n in (1, 2):
        folder.save({"n": n})
    dying = dying_after(step)
    with monkeypatch.context() as patch, suppress(Death):
        for place, name in ((Path, "replace"), (Path, "unlink"), (os, "fsync")):
            patch.setattr(place, name, dying(getattr(place, name)))
        folder.save({"n": 3})
    state = folder.load()
    assert state is not None and state["n"] in (2, 3)
    count("death inside a save")


def test_what_killed_processes_were_writing_is_swept(tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "checkpoint" / "0123").mkdir(parents=True)
    litter = [out / ".weights.pt.abc", out / "checkpoint" / "0123" / ".latest.ckpt.abc"]
    for file in litter:
        file.write_bytes(b"half")
    with only_writer(out):
        assert not any(file.exists() for file in litter)


# ---- stopped


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1])
@pytest.mark.parametrize("method", ["coteaching", "pencil"])
def test_asked_to_stop_it_saves_within_seconds_and_exits_75(
    method: str, number: signal.Signals, tmp_path: Path, nursery: Nursery
) -> None:
    run, files, _ = calm(tmp_path, method)
    out = tmp_path / "stopped"
    pid = nursery.start(run, files, out)
    wait_for(out / "log.txt", "epoch 2/")
    asked = time.monotonic()
    os.kill(pid, number)
    assert nursery.exit(pid) == 75
    assert time.monotonic() - asked < 5 + 3 * os.getloadavg()[0]
    assert f"{number.name} received: saved epoch" in (out / "log.txt").read_text()
    assert nursery.exit(nursery.start(run, files, out)) == 0
    assert "resumed from epoch" in (out / "log.txt").read_text()
    assert_same(tmp_path / "calm", out)
    count("SIGTERM or SIGUSR1")


# ---- disks


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own that can be filled or made read-only."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4m", "warlab-test", str(place)]
    if os.getuid() != 0 or subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("a small disk can be mounted by root only; this test was left out")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def fill(place: Path) -> Path:
    filler = place / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
    return filler


def test_a_full_disk_keeps_the_earlier_checkpoint_and_goes_on_when_there_is_room(
    tmp_path: Path, small_disk: Path
) -> None:
    run, files, _ = calm(tmp_path, "war_w2v")
    out = small_disk / "out"
    process = start(run, files, out)
    wait_for(out / "log.txt", "epoch 2/")
    filler = fill(small_disk)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 1 and "No space left on device); free some space and run the command again" in said
    assert "Traceback" not in said
    (latest,) = out.glob("checkpoint/*/latest.ckpt")
    assert checkpoint._content(latest) is not None, "the earlier checkpoint is whole"
    assert not (out / "result.json").exists()
    filler.unlink()
    again = start(run, files, out)
    _, said = again.communicate(timeout=120)
    assert again.returncode == 0 and "resumed from epoch" in said
    assert_same(tmp_path / "calm", out)
    count("disk full")


def test_a_read_only_folder_is_one_sentence(tmp_path: Path, small_disk: Path) -> None:
    run, files, _ = calm(tmp_path, "cce")
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    process = start(run, files, small_disk / "out")
    _, said = process.communicate(timeout=120)
    assert process.returncode == 1 and "the file system is read-only, choose another results_root" in said
    assert "Traceback" not in said
    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    assert start(run, files, small_disk / "out").wait(120) == 0
    assert_same(tmp_path / "calm", small_disk / "out")
    count("read-only folder")


# ---- damaged


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "gone"])
def test_a_damaged_checkpoint_falls_back_says_so_and_ends_at_the_same_bits(
    damage: str, tmp_path: Path, nursery: Nursery
) -> None:
    run, files, _ = calm(tmp_path, "coteaching")
    out = tmp_path / "damaged"
    pid = nursery.start(run, files, out)
    wait_for(out / "log.txt", "epoch 3/")
    os.kill(pid, signal.SIGKILL)
    assert nursery.exit(pid) == -signal.SIGKILL
    (latest,) = out.glob("checkpoint/*/latest.ckpt")
    content = bytearray(latest.read_bytes())
    content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    if damage == "gone":
        latest.unlink()
    else:
        latest.write_bytes({"cut": content[: len(content) // 2], "flip": content, "empty": b""}[damage])
    assert nursery.exit(nursery.start(run, files, out)) == 0
    log = (out / "log.txt").read_text()
    assert ("latest.ckpt is damaged; falling back" in log) == (damage != "gone") and "resumed from epoch" in log
    assert_same(tmp_path / "calm", out)
    count("damaged checkpoint")


def test_a_checkpoint_of_another_configuration_is_refused_and_left_alone(tmp_path: Path, nursery: Nursery) -> None:
    run, files, _ = calm(tmp_path, "cce")
    other, out = resolved("cce", epochs=EPOCHS, batch_size=24), tmp_path / "out"
    for given in (run, other):
        pid = nursery.start(given, files, out)
        wait_for(out / "log.txt", "epoch 2/")
        os.kill(pid, signal.SIGKILL)
        nursery.exit(pid)
        (out / "log.txt").rename(out / f"log{given['training']['batch_size']}")
    mine, foreign = sorted(out.glob("checkpoint/*/latest.ckpt"), key=lambda path: path.stat().st_mtime)
    mine.write_bytes(foreign.read_bytes())
    assert nursery.exit(nursery.start(run, files, out)) == 1
    assert "belongs to another run; move it away" in (out / "log.txt").read_text()
    assert mine.read_bytes() == foreign.read_bytes()
    mine.unlink()
    mine.with_name("previous.ckpt").unlink(missing_ok=True)
    assert nursery.exit(nursery.start(run, files, out)) == 0
    assert_same(tmp_path / "calm", out)
    count("foreign checkpoint")


def test_a_clock_that_was_set_back_changes_nothing(tmp_path: Path, nursery: Nursery) -> None:
    """The files of the interrupted run are from tomorrow."""
    run, files, _ = calm(tmp_path, "pencil")
    out = tmp_path / "tomorrow"
    pid = nursery.start(run, files, out)
    wait_for(out / "log.txt", "epoch 3/")
    os.kill(pid, signal.SIGKILL)
    nursery.exit(pid)
    for file in out.rglob("*"):
        os.utime(file, (time.time() + 86400,) * 2)
    for file in out.rglob("previous.ckpt"):
        os.utime(file, (time.time() + 90000,) * 2)  # younger than the latest
    assert nursery.exit(nursery.start(run, files, out)) == 0
    log = (out / "log.txt").read_text()
    assert "damaged" not in log and int(log.split("resumed from epoch ")[1].split(",")[0]) >= 3
    assert_same(tmp_path / "calm", out)
    count("clock set back")
