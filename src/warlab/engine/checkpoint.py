"""Checkpoints that survive any fault, and signals that make a run save one.

Snakemake deletes the declared outputs of a failed job. So the states of an unfinished run are in a folder that is not
declared, <run>/checkpoint/<id>/, where the id depends on all that the result depends on. A run with another
configuration or code does not find them, and a run with the old configuration finds them again.
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
    """The two newest states of one run; if the newest is damaged, the one before is loaded.

    A run may continue on another machine. Since the last bits of its result may depend on the machine, a state names
    the machines that it was made on, and what has changed is logged.
    """

    def __init__(self, run_folder: Path, run_id: str) -> None:
        self.path = run_folder / "checkpoint" / run_id[:16]
        self.run_id = run_id
        self.machines: list[Machine] = []
        self.next = self.path / "next.ckpt"  # complete, but not yet renamed: left by a kill between two renames
        self.latest = self.path / "latest.ckpt"
        self.previous = self.path / "previous.ckpt"
        self._latest_is_good = False
        self.interval = seconds_between_writes()
        self._written = time.monotonic()
        self._kept: bytes | None = None

    def due(self) -> bool:
        """Return whether the last write is so long ago that a state should be written in the middle of an epoch."""
        return self.interval > 0 and time.monotonic() - self._written >= self.interval

    def keep(self, state: Mapping[str, object]) -> None:
        """Keep the present state in memory for `write`, and write it if that is due."""
        _check_types(state)
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
        """Write the state that was kept last, unless it is on the disk already. It is complete there before the older
        ones are renamed, and a damaged one never replaces the one before it."""
        if (content := self._kept) is None:
            return
        checksum = hashlib.sha256(content).hexdigest().encode()
        try:
            write_atomic(self.next, lambda file: (file.write(checksum), file.write(content)))
            if self._latest_is_good or _content(self.latest) is not None:
                self.latest.replace(self.previous)
            self.next.replace(self.latest)
        except OSError as error:
            error.filename = error.filename or str(self.next)  # the error of a full disk names no file
            raise
        self._latest_is_good = True
        self._kept, self._written = None, time.monotonic()

    def load(self) -> dict[str, Any] | None:
        """Return the newest state that is not damaged, or None for a run that starts."""
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
            self._add_machine(state.pop("machines"))
            return state
        return None

    def _add_machine(self, machines: list[Machine]) -> None:
        now, before = machine(), machines[-1]
        self.machines = machines if now == before else [*machines, now]
        changes = [f"{key} {before.get(key)} became {value}" for key, value in now.items() if before.get(key) != value]
        if changes:
            logger.info(f"{', '.join(changes)} since the state was saved; the last bits of the result may change.")

    def remove(self) -> None:
        """Delete the states of this configuration, once its outputs are written; those of others stay."""
        shutil.rmtree(self.path, ignore_errors=True)
        with suppress(OSError):
            self.path.parent.rmdir()


def seconds_between_writes() -> float:
    """Return the longest time that a kill can lose; a signal to stop loses none. 0 means after every epoch."""
    value = os.environ.get(INTERVAL, "120")
    try:
        seconds = float(value)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise WarlabError(f"{INTERVAL} is {value!r}; give a number of seconds, such as 120, or 0 for every epoch.")
    return seconds


def _content(file: Path) -> bytes | None:
    """Return what torch has written, or None if its checksum differs; nothing is unpickled before that check."""
    content = file.read_bytes() if file.exists() else b""
    return content[64:] if hashlib.sha256(content[64:]).hexdigest().encode() == content[:64] else None


def _read(file: Path, content: bytes) -> dict[str, Any]:
    """Read a complete state. If torch refuses it, it is not damaged, and starting again would hide a bug."""
    try:
        return torch.load(io.BytesIO(content), weights_only=True, map_location="cpu")
    except Exception as error:  # torch raises many kinds for what is not tensors and numbers, such as a program
        raise WarlabError(
            f"{file} is intact, but torch cannot load it ({reason(error)}); delete it to start this run again, "
            "and report it if warlab has written it."
        ) from error


def _check_types(value: Any, name: str = "") -> None:
    """Refuse what could not be read back: only tensors, numbers, text, and lists, tuples and dicts of them can."""
    if isinstance(value, dict):
        for key, part in value.items():
            _check_types(key, f"{name} (a key)")
            _check_types(part, f"{name}.{key}" if name else str(key))
    elif type(value) in (list, tuple):
        for number, part in enumerate(value):
            _check_types(part, f"{name}[{number}]")
    elif not isinstance(value, Tensor) and type(value) not in (bool, int, float, str, type(None)):
        kind = f"{type(value).__module__}.{type(value).__name__}"
        raise WarlabError(
            f"The state of this run cannot be saved: {name} is a {kind}; make it a tensor, a plain number, a bool, "
            "text, or a list, tuple or dict of them."
        )


class StopRequest:
    """True once SIGTERM, SIGINT or SIGUSR1 has arrived; the loop then saves and ends."""

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
