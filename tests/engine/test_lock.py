"""One writer in a run's folder: with real processes, with a lock file that someone deletes, and without flock."""

import errno
import fcntl
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, logged
from tests.helpers.checkout import PATIENCE
from warlab.engine import lock
from warlab.engine.lock import LOCK, OWNER, is_locked, last_configuration, only_writer
from warlab.errors import WarlabError

HOLD = """
import logging, shutil, sys
from pathlib import Path
from warlab.engine.lock import only_writer
folder = Path(sys.argv[1])
logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
with only_writer(folder):
    (folder / "checkpoint").mkdir(exist_ok=True)
    print("in", flush=True)
    sys.stdin.readline()
    shutil.rmtree(folder / "checkpoint")
"""


@pytest.fixture
def processes(tmp_path: Path) -> Iterator["Processes"]:
    with ExitStack() as stack:
        yield Processes(tmp_path / "run", stack)


class Processes:
    """Starts writers of one folder; each holds the lock until it is told to leave, and then removes its checkpoints."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder, self.stack = folder, stack

    def start(self) -> subprocess.Popen[str]:
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(self.folder)], env=environment, stdin=pipe, stdout=pipe, text=True
        )
        self.stack.callback(process.wait)
        self.stack.callback(process.kill)
        return process


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def leave(process: subprocess.Popen[str]) -> None:
    process.communicate("\n", timeout=PATIENCE)


@pytest.mark.parametrize("deleted", [False, True])
def test_only_one_process_writes_at_a_time(deleted: bool, processes: Processes) -> None:
    """The second waits while the first finishes and cleans up; the third must then wait for the second."""
    first = processes.start()
    assert line(first) == "in"
    second = processes.start()
    assert f"process {first.pid} on" in line(second)
    if deleted:
        (processes.folder / LOCK).unlink()
    leave(first)
    assert line(second) == "in"
    third = processes.start()
    assert f"already being trained by process {second.pid} on {socket.gethostname()}; waiting" in line(third)
    leave(second)
    assert line(third) == "in"
    leave(third)
    assert [file.name for file in processes.folder.iterdir()] == [".lock"]


def test_a_killed_writer_leaves_no_lock(processes: Processes) -> None:
    first = processes.start()
    assert line(first) == "in" and is_locked(processes.folder)
    first.kill()
    first.wait()
    assert not is_locked(processes.folder)
    assert line(processes.start()) == "in"


def test_the_lock_remembers_the_configuration(tmp_path: Path) -> None:
    assert last_configuration(tmp_path) == ""
    with only_writer(tmp_path) as announce:
        announce("0123")
        assert last_configuration(tmp_path) == "0123"
    assert last_configuration(tmp_path) == "0123"


# ---- a file system without flock


@pytest.fixture
def no_flock(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which flock fails; it works in the folder of the machine's own locks."""
    flock, folder, own = fcntl.flock, tmp_path / "lustre", tmp_path / "machine"
    own.mkdir()
    monkeypatch.setattr(lock.tempfile, "tempdir", str(own))
    number = getattr(request, "param", errno.ENOLCK)

    def failing(file: Any, operation: int) -> None:
        if Path(file.name).is_relative_to(folder):
            raise OSError(number, os.strerror(number))
        flock(file, operation)

    monkeypatch.setattr(fcntl, "flock", failing)
    return folder


@pytest.mark.parametrize("no_flock", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP], indirect=True)
def test_without_flock_a_file_reserves_the_run(no_flock: Path) -> None:
    said = logged()
    with only_writer(no_flock) as announce:
        announce("0123")
        assert is_locked(no_flock) and last_configuration(no_flock) == "0123"
        assert (no_flock / OWNER).read_text() == f"process {os.getpid()} on {socket.gethostname()}"
    assert len(said) == 1 and "cannot lock files" in said[0] and "\n" not in said[0]
    assert not is_locked(no_flock) and not (no_flock / OWNER).exists()


def test_without_flock_a_process_of_this_machine_waits(no_flock: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Waited(Exception):
        pass

    def sleep(seconds: float) -> None:
        raise Waited

    said = logged()
    monkeypatch.setattr(time, "sleep", sleep)
    with only_writer(no_flock), pytest.raises(Waited), only_writer(no_flock):
        pass
    assert "waiting for it to finish" in said[-1]


def test_without_flock_a_dead_process_of_this_machine_is_followed(no_flock: Path) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    no_flock.mkdir()
    (no_flock / OWNER).write_text(f"process {dead.pid} on {socket.gethostname()}")
    with only_writer(no_flock):
        assert (no_flock / OWNER).read_text().startswith(f"process {os.getpid()} ")


@pytest.mark.parametrize("owner", ["process 12 on another-node", ""])
def test_without_flock_a_run_of_another_machine_is_left_alone(no_flock: Path, owner: str) -> None:
    no_flock.mkdir()
    (no_flock / OWNER).write_text(owner)
    words = rf"already being trained by {owner or 'another process'}; if that has ended, delete .*\.lock-owner"
    with pytest.raises(WarlabError, match=words), only_writer(no_flock):
        pass
    assert (no_flock / OWNER).read_text() == owner


def test_another_error_of_a_lock_is_not_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(file: Any, operation: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(fcntl, "flock", failing)
    with pytest.raises(OSError, match="Input/output error"), only_writer(tmp_path):
        pass


# ---- the folder of this machine's locks


def test_a_link_or_a_folder_of_someone_else_is_not_used_for_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock.tempfile, "tempdir", str(tmp_path))
    own = lock.machine_folder()
    assert own == lock.machine_folder()  # made, then found
    own.rename(tmp_path / "elsewhere")
    own.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(WarlabError, match="is not a folder of yours"):
        lock.machine_folder()
    other = os.getuid() + 1
    (tmp_path / f"warlab-{other}").mkdir()  # as if it were waiting for the user of that number
    monkeypatch.setattr(os, "getuid", lambda: other)
    with pytest.raises(WarlabError, match="is not a folder of yours; set TMPDIR"):
        lock.machine_folder()
