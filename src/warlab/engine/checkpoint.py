"""A run's folder: one writer, checkpoints that are whole or not there, signals that save first.

Snakemake deletes the declared outputs of a failed job, so the state of an unfinished run lies in an undeclared
folder beside them: <run>/checkpoint/<id>/, where id names everything that the result depends on. A run of another
configuration or code therefore never finds it, and going back to the old configuration finds it again.
"""

import fcntl
import hashlib
import io
import os
import shutil
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import torch

from warlab.errors import WarlabError
from warlab.files import write_atomic

State = dict[str, Any]


class CheckpointFolder:
    """The two newest states of one run; a damaged newest falls back to the one before."""

    def __init__(self, run_folder: Path, run_id: str, say: Callable[[str], None]) -> None:
        self.path = run_folder / "checkpoint" / run_id[:16]
        self.run_id = run_id
        self.say = say
        self.latest = self.path / "latest.ckpt"
        self.previous = self.path / "previous.ckpt"

    def save(self, state: State) -> None:
        buffer = io.BytesIO()
        torch.save({**state, "run_id": self.run_id}, buffer)
        content = buffer.getvalue()
        checksum = hashlib.sha256(content).hexdigest().encode()
        with naming(self.latest):
            if self.latest.exists():
                _copy(self.latest, self.previous)
            write_atomic(self.latest, lambda file: (file.write(checksum), file.write(content)))

    def load(self) -> State | None:
        """The newest whole state, or None for a run that starts."""
        for file in (self.latest, self.previous):
            if not file.exists():
                continue
            state = _read(file)
            if state is None:
                self.say(f"{file} is damaged; falling back to the state before it.")
            elif state.pop("run_id") != self.run_id:
                raise WarlabError(
                    f"{file} belongs to another run; move it away, or run the configuration that it was made with."
                )
            else:
                return state
        return None

    def remove(self) -> None:
        """All unfinished states of this run's folder, once its outputs are in place."""
        shutil.rmtree(self.path.parent, ignore_errors=True)


@contextmanager
def naming(file: Path) -> Iterator[None]:
    """A full disk does not say which file it had no room for; the user wants to know."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(file)
        raise


def _copy(source: Path, target: Path) -> None:
    with source.open("rb") as original:
        write_atomic(target, lambda file: shutil.copyfileobj(original, file))


def _read(file: Path) -> State | None:
    """The state, or None if the content is not what its checksum says; nothing is unpickled before that check."""
    content = file.read_bytes()
    if hashlib.sha256(content[64:]).hexdigest().encode() != content[:64]:
        return None
    try:
        return torch.load(io.BytesIO(content[64:]), weights_only=True, map_location="cpu")
    except Exception:  # what is not tensors and numbers, such as a program, is refused by torch in many ways
        return None


@contextmanager
def only_writer(run_folder: Path, say: Callable[[str], None]) -> Iterator[None]:
    """Wait until no other process trains in this folder: a killed snakemake leaves its jobs running."""
    folder = run_folder / "checkpoint"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("a+") as file:
        _wait_for_lock(file, say)
        _sweep(run_folder)
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}")
        file.flush()
        yield


def _sweep(run_folder: Path) -> None:
    """What a killed process was writing: without this, every kill would leave a file as large as a checkpoint."""
    for file in [*run_folder.glob(".*.*"), *run_folder.glob("checkpoint/*/.*.*")]:
        file.unlink(missing_ok=True)


def _wait_for_lock(file: Any, say: Callable[[str], None]) -> None:
    waited = 0
    while True:
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if waited % 60 == 0:
                file.seek(0)
                say(f"{file.read() or 'Another process'} trains this run already; waiting for it to end.")
            time.sleep(1)
            waited += 1


class StopRequest:
    """True once SIGTERM, SIGINT or SIGUSR1 arrived; the loop then saves and leaves."""

    def __init__(self) -> None:
        self.received: str | None = None
        self._old: dict[int, Any] = {}

    def __enter__(self) -> "StopRequest":
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
            self._old[number] = signal.signal(number, self._receive)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._old.items():
            signal.signal(number, handler)

    def _receive(self, number: int, _frame: FrameType | None) -> None:
        self.received = signal.Signals(number).name

    def __bool__(self) -> bool:
        return self.received is not None
