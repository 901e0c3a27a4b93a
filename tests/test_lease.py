"""The lease of a GPU, with GPUs that are only counted: who gets which, who waits, who is left alone."""

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.conftest import ROOT
from warlab.engine import lease
from warlab.engine.lease import VISIBLE, device_count, gpu_lease

HOLD = """
import sys, warlab.engine.lease as lease
with lease.gpu_lease({slots}, print, devices={devices}) as device:
    print("got", device, lease.os.environ.get(lease.VISIBLE), flush=True)
    sys.stdin.readline()
"""


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.delenv(VISIBLE, raising=False)
    monkeypatch.delenv("WARLAB_GPUS", raising=False)


def hold(devices: int, slots: int = 1) -> subprocess.Popen[str]:
    """A process that has a lease until its input ends."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", HOLD.format(devices=devices, slots=slots)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_two_processes_get_two_gpus_and_the_third_waits_for_one_that_is_killed() -> None:
    one, two = hold(2), hold(2)
    assert {line(one), line(two)} == {"got 0 0", "got 1 1"}
    three = hold(2)
    assert "all 2 GPU slots are taken" in line(three)
    two.kill()
    two.wait()
    got = line(three)
    assert got in ("got 0 0", "got 1 1")
    for process in (one, three):
        process.communicate("\n", timeout=20)


def test_every_gpu_has_its_first_training_before_one_has_two() -> None:
    with ExitStack() as stack:
        given = [_take(stack, devices=2, slots=2) for _ in range(4)]
    assert given == ["0", "1", "0", "1"]


def _take(stack: ExitStack, devices: int, slots: int) -> str | None:
    """Another lease as another process would take it: without the variable that the one before has set."""
    os.environ.pop(VISIBLE, None)
    device = stack.enter_context(gpu_lease(slots, print, devices))
    stack.callback(os.environ.setdefault, VISIBLE, "")
    return device


def test_what_the_scheduler_has_chosen_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VISIBLE, "3")
    with gpu_lease(1, print, devices=2) as device:
        assert device is None and os.environ[VISIBLE] == "3"


def test_without_a_gpu_nothing_is_set() -> None:
    with gpu_lease(1, print, devices=0) as device:
        assert device is None and VISIBLE not in os.environ


def test_after_the_lease_nothing_is_set() -> None:
    with gpu_lease(1, print, devices=1):
        assert os.environ[VISIBLE] == "0"
    assert VISIBLE not in os.environ


def test_gpus_are_counted_without_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARLAB_GPUS", "3")
    assert device_count() == 3
    monkeypatch.setenv("WARLAB_GPUS", "")
    assert device_count() == len(list(Path("/dev").glob("nvidia[0-9]*")))
