"""The lease of a GPU, with GPUs that are only counted: which process gets which, and which ones wait."""

import fcntl
import os
import runpy
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.conftest import ROOT
from tests.helpers.checkout import PATIENCE
from warlab.engine import lock
from warlab.engine.lock import SCHEDULERS, VISIBLE, device_count, gpu_lease

HOLD = """
import logging, sys, warlab.engine.lock as lock
logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
with lock.gpu_lease({slots}, whole={whole}) as device:
    print("got", device, lock.os.environ.get(lock.VISIBLE), flush=True)
    sys.stdin.readline()
"""


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    for name in (VISIBLE, "WARLAB_GPUS", *SCHEDULERS):
        monkeypatch.delenv(name, raising=False)


def hold(devices: int = 0, slots: int = 1, whole: bool = False, **variables: str) -> subprocess.Popen[str]:
    """A process that has a lease until its input ends."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "WARLAB_GPUS": str(devices), **variables}
    command = [sys.executable, "-u", "-c", HOLD.format(slots=slots, whole=whole)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def end(*processes: subprocess.Popen[str]) -> None:
    for process in processes:
        process.communicate("\n", timeout=PATIENCE)


def test_two_processes_get_two_gpus_and_the_third_waits_for_one_that_is_killed() -> None:
    one, two = hold(2), hold(2)
    assert {line(one), line(two)} == {"got 0 0", "got 1 1"}
    three = hold(2)
    assert "all 2 GPU slots are taken" in line(three)
    two.kill()
    two.wait()
    got = line(three)
    assert got in ("got 0 0", "got 1 1")
    end(one, three)


def test_every_gpu_has_its_first_training_before_one_has_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARLAB_GPUS", "2")
    with ExitStack() as stack:
        given = [_take(stack, slots=2) for _ in range(4)]
    assert given == ["0", "1", "0", "1"]


def _take(stack: ExitStack, slots: int) -> str | None:
    """Take a lease as another process would: without the variable that the lease before has set."""
    os.environ.pop(VISIBLE, None)
    device = stack.enter_context(gpu_lease(slots))
    stack.callback(os.environ.setdefault, VISIBLE, "")
    return device


def test_the_gpus_of_a_list_are_shared_out() -> None:
    """Only GPUs of the list are used, and not all processes use its first entry."""
    first, second = (hold(devices=9, **{VISIBLE: "MIG-a/1/0,3"}) for _ in range(2))
    assert {line(first), line(second)} == {"got MIG-a/1/0 MIG-a/1/0", "got 3 3"}
    third = hold(devices=9, **{VISIBLE: "MIG-a/1/0,3"})
    assert "all 2 GPU slots are taken" in line(third)
    end(first, second)
    assert line(third).startswith("got")
    end(third)


def test_two_jobs_of_a_scheduler_may_both_call_their_gpu_0() -> None:
    jobs = [hold(SLURM_JOB_ID=job, **{VISIBLE: "0"}) for job in ("11", "12")]
    assert [line(job) for job in jobs] == ["got 0 0", "got 0 0"]
    again = hold(SLURM_JOB_ID="12", **{VISIBLE: "0"})
    assert "GPU 0 is in use; waiting" in line(again)
    end(*jobs, again)


@pytest.mark.parametrize(
    ("before", "gpus", "leased"),
    [
        ("", "2", None),
        ("-1", "2", None),
        ("NoDevFiles", "2", None),
        (None, "0", None),
        (None, "1", "0"),
        ("3,5", "1", "3"),
    ],
)
def test_the_lease_makes_one_gpu_visible_and_puts_the_variable_back(
    before: str | None, gpus: str, leased: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARLAB_GPUS", gpus)
    if before is not None:
        monkeypatch.setenv(VISIBLE, before)
    with gpu_lease(1) as device:
        assert device == leased and os.environ.get(VISIBLE) == (before if leased is None else leased)
    assert os.environ.get(VISIBLE) == before


def free_slots(folder: Path) -> int:
    free = 0
    for path in folder.glob("warlab-*/gpu0-slot*"):
        with path.open() as file, suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            free += 1
    return free


def test_what_measures_time_has_all_slots_of_its_gpu(tmp_path: Path) -> None:
    """It waits for both trainings of the GPU and keeps each slot that becomes free; a third training waits for it."""
    trainings = [hold(1, slots=2) for _ in range(2)]
    assert [line(training) for training in trainings] == ["got 0 0", "got 0 0"]
    timing = hold(1, slots=2, whole=True)
    assert "all 2 GPU slots are taken" in line(timing)
    end(trainings[0])
    while free_slots(tmp_path):
        time.sleep(0.1)
    late = hold(1, slots=2)
    assert "GPU 0 is in use" in line(timing) and "all 2 GPU slots are taken" in line(late)
    end(trainings[1])
    assert line(timing) == "got 0 0" and free_slots(tmp_path) == 0
    end(timing)
    assert line(late) == "got 0 0"
    end(late)


def test_the_script_of_the_timing_waits_for_a_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Waited(Exception):
        pass

    def sleep(seconds: float) -> None:
        raise Waited

    monkeypatch.setattr(time, "sleep", sleep)
    monkeypatch.setenv("WARLAB_GPUS", "1")
    given = SimpleNamespace(
        log=[str(tmp_path / "log.txt")],
        wildcards=SimpleNamespace(dataset="fashion_mnist", net="cnn9"),
        resources={"gpu_slots": 2},
    )
    with gpu_lease(2), pytest.raises(Waited):
        runpy.run_path(str(ROOT / "workflow" / "scripts" / "time_steps.py"), {"snakemake": given})
    assert "GPU 0 is in use; waiting" in (tmp_path / "log.txt").read_text()


def test_gpus_are_counted_without_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARLAB_GPUS", "3")
    assert device_count() == 3
    monkeypatch.setenv("WARLAB_GPUS", "")
    assert device_count() == len(list(Path("/dev").glob("nvidia[0-9]*")))
