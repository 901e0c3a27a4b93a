"""One GPU for one training: Snakemake counts GPUs but does not number them, so that all jobs would share the first.

A lease is a locked file of this machine; it ends with the process, however that ends. A scheduler that has set
CUDA_VISIBLE_DEVICES, as Slurm does, has decided already.
"""

import fcntl
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

VISIBLE = "CUDA_VISIBLE_DEVICES"


@contextmanager
def gpu_lease(slots: int, say: Callable[[str], None], devices: int | None = None) -> Iterator[str | None]:
    """Make one GPU visible, of whose `slots` one was free; None where there is none or a scheduler has chosen.

    Must be entered before CUDA is used; importing torch does not use it.
    """
    devices = device_count() if devices is None else devices
    if VISIBLE in os.environ or devices == 0:
        yield None
        return
    file, device = _wait(devices, slots, say)
    with file:
        os.environ[VISIBLE] = str(device)
        try:
            yield str(device)
        finally:
            del os.environ[VISIBLE]


def device_count() -> int:
    """GPUs of this machine, without a look through CUDA, which would fix what is visible; WARLAB_GPUS overrides."""
    given = os.environ.get("WARLAB_GPUS", "")
    return int(given) if given.isdecimal() else len(list(Path("/dev").glob("nvidia[0-9]*")))


def _wait(devices: int, slots: int, say: Callable[[str], None]) -> tuple[IO[str], int]:
    waited = 0
    while True:
        for slot in range(slots):  # every GPU gets its first training before one gets a second
            for device in range(devices):
                if file := _taken(device, slot):
                    return file, device
        if waited % 60 == 0:
            say(f"all {devices * slots} GPU slots are taken; waiting for one")
        time.sleep(1)
        waited += 1


def _taken(device: int, slot: int) -> IO[str] | None:
    """The locked file of a slot, or None if another process has it."""
    file = (_folder() / f"gpu{device}-slot{slot}").open("a")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file


def _folder() -> Path:
    """Of this user on this machine, whatever study or folder the trainings belong to."""
    folder = Path(tempfile.gettempdir()) / f"warlab-gpus-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder
