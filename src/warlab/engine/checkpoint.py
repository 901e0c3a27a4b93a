"""Checkpoints that are whole or not there, and signals that save first.

Snakemake deletes the declared outputs of a failed job, so the state of an unfinished run lies in an undeclared
folder next to them: <run>/checkpoint/<id>/, where id names everything that the result depends on. A run of another
configuration or code therefore never finds it, and going back to the old configuration finds it again.
"""

import hashlib
import io
import logging
import os
import shutil
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch import Tensor

from warlab.artefacts.run_result import Machine
from warlab.common.files import write_atomic
from warlab.engine.provenance import machine
from warlab.errors import WarlabError, reason

logger = logging.getLogger(__name__)
INTERVAL = "WARLAB_CHECKPOINT_SECONDS"


class CheckpointFolder:
    """The two newest states of one run; a damaged newest falls back to the one before.

    What makes a result is its configuration, code and inputs, so that a run may go on elsewhere. The last bits may
    depend on the machine too: a state names the machines it was made on, and a resume says what has changed.
    """

    def __init__(self, run_folder: Path, run_id: str) -> None:
        self.path = run_folder / "checkpoint" / run_id[:16]
        self.run_id = run_id
        self.machines: list[Machine] = []
        self.next = self.path / "next.ckpt"  # whole, but not yet in its place: seen after a kill between two renames
        self.latest = self.path / "latest.ckpt"
        self.previous = self.path / "previous.ckpt"
        self._latest_is_whole = False
        self.interval = seconds_between_writes()
        self._written = time.monotonic()
        self._kept: bytes | None = None

    def due(self) -> bool:
        """Whether so much would be lost by a kill that a state should be written in the middle of an epoch."""
        return self.interval > 0 and time.monotonic() - self._written >= self.interval

    def keep(self, state: Mapping[str, object]) -> None:
        """The state as it is now, written if that is due, and at hand for `write` if not."""
        _refuse_what_cannot_be_read_back(state)
        self.machines = self.machines or [machine()]
        buffer = io.BytesIO()
        torch.save({**state, "run_id": self.run_id, "machines": self.machines}, buffer)
        self._kept = buffer.getvalue()
        if self.interval == 0 or self.due():
            self.write()

    def save(self, state: Mapping[str, object]) -> None:
        self.keep(state)
        self.write()

    def write(self) -> None:
        """The state that was kept last, unless it is on the disk. It is whole there before the older ones are touched,
        and only a whole one moves on."""
        if (content := self._kept) is None:
            return
        checksum = hashlib.sha256(content).hexdigest().encode()
        try:
            write_atomic(self.next, lambda file: (file.write(checksum), file.write(content)))
            if self._latest_is_whole or _content(self.latest) is not None:
                self.latest.replace(self.previous)
            self.next.replace(self.latest)
        except OSError as error:
            error.filename = error.filename or str(self.next)  # a full disk does not say which file it had no room for
            raise
        self._latest_is_whole = True
        self._kept, self._written = None, time.monotonic()

    def load(self) -> dict[str, Any] | None:
        """The newest whole state, or None for a run that starts."""
        for file in (self.next, self.latest, self.previous):
            if not file.exists():
                continue
            content = _content(file)
            if content is None:
                logger.info(f"{file} is damaged; falling back to the state before it.")
                continue
            state = _read(file, content)
            if state.pop("run_id") != self.run_id:
                raise WarlabError(
                    f"{file} belongs to another run; move it away, or run the configuration that it was made with."
                )
            self._note_machines(state.pop("machines"))
            return state
        return None

    def _note_machines(self, machines: list[Machine]) -> None:
        now, before = machine(), machines[-1]
        self.machines = machines if now == before else [*machines, now]
        changes = [f"{key} {before.get(key)} became {value}" for key, value in now.items() if before.get(key) != value]
        if changes:
            since = "since the state was saved; the last bits of the result may depend on it."
            logger.info(f"{', '.join(changes)} {since}")

    def remove(self) -> None:
        """The states of this configuration, once its outputs are in place; those of others stay."""
        shutil.rmtree(self.path, ignore_errors=True)
        with suppress(OSError):
            self.path.parent.rmdir()


def seconds_between_writes() -> float:
    """A kill loses at most so much; a stop that is asked for loses nothing. 0 writes after every epoch, and in none."""
    given = os.environ.get(INTERVAL, "120")
    try:
        seconds = float(given)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise WarlabError(f"{INTERVAL} is {given!r}; give a number of seconds, such as 120, or 0 for every epoch.")
    return seconds


def _content(file: Path) -> bytes | None:
    """What torch has written, or None if it is not what its checksum says; nothing is unpickled before that check."""
    content = file.read_bytes() if file.exists() else b""
    return content[64:] if hashlib.sha256(content[64:]).hexdigest().encode() == content[:64] else None


def _read(file: Path, content: bytes) -> dict[str, Any]:
    """A whole state. One that torch refuses is no damage, so that starting again would hide a fault of the program."""
    try:
        return torch.load(io.BytesIO(content), weights_only=True, map_location="cpu")
    except Exception as error:  # what is not tensors and numbers, such as a program, is refused by torch in many ways
        raise WarlabError(
            f"{file} is whole but torch refuses to read it ({reason(error)}); delete it to start this run again, "
            "and report it if warlab has written it."
        ) from error


def _refuse_what_cannot_be_read_back(value: Any, name: str = "") -> None:
    """Tensors, plain numbers, text, and lists, tuples and dicts of them are what a checkpoint gives back."""
    if isinstance(value, dict):
        for key, part in value.items():
            _refuse_what_cannot_be_read_back(key, f"{name} (a key)")
            _refuse_what_cannot_be_read_back(part, f"{name}.{key}" if name else str(key))
    elif type(value) in (list, tuple):
        for number, part in enumerate(value):
            _refuse_what_cannot_be_read_back(part, f"{name}[{number}]")
    elif not isinstance(value, Tensor) and type(value) not in (bool, int, float, str, type(None)):
        kind = f"{type(value).__module__}.{type(value).__name__}"
        raise WarlabError(
            f"The state of this run cannot be saved: {name} is a {kind}; make it a tensor, a plain number, a bool, "
            "text, or a list, tuple or dict of them."
        )


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
