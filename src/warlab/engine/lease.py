"""One GPU for one training: Snakemake counts GPUs but does not number them, so that all jobs would share the first.

A lease is a locked file of this machine; it ends with the process, however that ends. Of the GPUs that a user or a
scheduler has named in CUDA_VISIBLE_DEVICES, as Slurm does, one is leased and the others are hidden.
"""

import fcntl
import logging
import os
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count, takewhile
from pathlib import Path
from typing import IO

from warlab.engine.lock import machine_folder

logger = logging.getLogger(__name__)
VISIBLE = "CUDA_VISIBLE_DEVICES"
SCHEDULERS = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID")
Lock = tuple[str, str]  # GPU, and which of its locks


@contextmanager
def gpu_lease(slots: int, whole: bool = False) -> Iterator[str | None]:
    """Make one GPU visible, of whose `slots` one was free, or all if it must be `whole`; None where there is none.

    Must be entered before CUDA is used; importing torch does not use it.
    """
    named = os.environ.get(VISIBLE)
    gpus = [str(number) for number in range(device_count())] if named is None else visible_entries(named)
    if not gpus:
        yield None
        return
    with ExitStack() as held:
        if whole:
            gpu = _whole(gpus, slots, held)
        else:  # every GPU gets its first training before one gets a second
            gpu, _ = _wait([(gpu, f"slot{slot}") for slot in range(slots) for gpu in gpus], held)
        held.enter_context(_only(gpu))
        yield gpu


def device_count() -> int:
    """GPUs of this machine, without a look through CUDA, which would fix what is visible; WARLAB_GPUS overrides."""
    given = os.environ.get("WARLAB_GPUS", "")
    return int(given) if given.isdecimal() else len(list(Path("/dev").glob("nvidia[0-9]*")))


def visible_entries(value: str) -> list[str]:
    """Numbers or names (GPU-…, MIG-…) of a list for CUDA, which stops reading at the first thing that is neither."""
    entries = (entry.strip() for entry in value.split(","))
    return list(takewhile(re.compile(r"\d+$|(GPU|MIG)-.").match, entries))


def _whole(gpus: list[str], slots: int, held: ExitStack) -> str:
    """All slots of one GPU, kept as they become free; only one process at a time collects those of a GPU."""
    chosen, _ = _wait([(gpu, "whole") for gpu in gpus], held)
    left = [(chosen, f"slot{slot}") for slot in range(slots)]
    while left:
        left.remove(_wait(left, held))
    return chosen


def _wait(locks: list[Lock], held: ExitStack) -> Lock:
    """Hold the first of these locks that is free."""
    for waited in count():
        for lock in locks:
            if file := _taken(*lock):
                held.enter_context(file)
                return lock
        if waited % 60 == 0:
            taken = f"all {len(locks)} GPU slots are taken" if len(locks) > 1 else f"GPU {locks[0][0]} is in use"
            logger.info(f"{taken}; waiting")
        time.sleep(1)
    raise AssertionError


def _taken(gpu: str, name: str) -> IO[str] | None:
    """The locked file, or None if another process has it. Two jobs of a scheduler may both call their GPU 0."""
    job = next((f"{os.environ[key]}-" for key in SCHEDULERS if os.environ.get(key)), "")
    file = (machine_folder() / re.sub(r"[^\w.-]", "_", f"{job}gpu{gpu}-{name}")).open("a")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file


@contextmanager
def _only(gpu: str) -> Iterator[None]:
    """This GPU alone is visible; afterwards what was visible before."""
    before = os.environ.get(VISIBLE)
    os.environ[VISIBLE] = gpu
    try:
        yield
    finally:
        if before is None:
            del os.environ[VISIBLE]
        else:
            os.environ[VISIBLE] = before
