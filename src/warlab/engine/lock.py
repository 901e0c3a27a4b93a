"""Locked files: one writer for the folder of a run, and one GPU for a training.

A lock ends with its process, however that ends. Nothing here needs torch, so that `warlab status` can use it.
"""

import errno
import fcntl
import logging
import os
import re
import socket
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import count, takewhile
from pathlib import Path
from typing import IO

from warlab.artefacts.run_result import OUTPUTS
from warlab.common.files import digest
from warlab.errors import WarlabError

logger = logging.getLogger(__name__)
UNSUPPORTED = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)  # flock on some mounts of Lustre and NFS
VISIBLE = "CUDA_VISIBLE_DEVICES"
LOCK = ".lock"  # in the folder of a run, outside of its checkpoints, which users delete: process, configuration
OWNER = ".lock-owner"  # in the folder of a run on a file system without flock: the process that trains
SCHEDULERS = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID")
Slot = tuple[str, str]  # GPU, and which of its locks


def wait_for_lock(paths: Sequence[Path], held: ExitStack, message: Callable[[IO[str]], str]) -> tuple[Path, IO[str]]:
    """Lock the first of these files that is free, until `held` is closed; `message` is logged once a minute.

    The files are never deleted here. If somebody else deletes one while we wait, the lock on it protects nothing, so
    the file in its place is locked instead.
    """
    files = {path: held.enter_context(path.open("a+")) for path in paths}
    for seconds in count():
        for path, file in files.items():
            with suppress(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _is_in_place(file, path):
                    return path, file
                files[path] = held.enter_context(path.open("a+"))
        if seconds % 60 == 0:
            logger.info(message(files[paths[0]]))
        time.sleep(1)
    raise AssertionError


def _is_in_place(file: IO[str], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def machine_folder() -> Path:
    """Return the folder of locks that all processes of this user on this machine share, in all studies."""
    folder = Path(tempfile.gettempdir()) / f"warlab-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise WarlabError(f"{folder} is not a folder of yours; set TMPDIR to a folder that belongs to you.")
    return folder


# ---- one writer for the folder of a run


@contextmanager
def only_writer(run_folder: Path) -> Iterator[Callable[[str], None]]:
    """Wait until no other process is training in this folder: a killed snakemake leaves its jobs running. Yields a
    function that notes the configuration that is trained, for `warlab status`."""
    run_folder.mkdir(parents=True, exist_ok=True)
    path, owner = run_folder / LOCK, f"process {os.getpid()} on {socket.gethostname()}"
    with ExitStack() as held:
        try:
            _, file = wait_for_lock([path], held, _waiting_message)
        except OSError as error:
            if error.errno not in UNSUPPORTED:
                raise
            instead = "the run is reserved by a file instead."
            logger.info(f"The file system of {path} cannot lock files ({error.strerror}); {instead}")
            file = held.enter_context(path.open("a+"))
            _reserve(run_folder, owner, held)
        # What killed processes were writing: otherwise every kill could leave a file as large as a checkpoint. Other
        # jobs write other files in this folder without its lock, such as predictions.
        for pattern in ("checkpoint/*/.*.*", *(f".{name}.*" for name in OUTPUTS)):
            for unfinished in run_folder.glob(pattern):
                unfinished.unlink(missing_ok=True)

        def announce(configuration: str) -> None:
            _write(file, f"{owner}\n{configuration}\n")

        announce(last_configuration(run_folder))
        try:
            yield announce
        finally:
            with suppress(OSError):  # a note for `warlab status`, no reason to fail
                _write(file, f"\n{last_configuration(run_folder)}\n")


def is_locked(run_folder: Path) -> bool:
    """Return whether a process is training here. The shared lock that tests it is released at once."""
    try:
        with (run_folder / LOCK).open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # no such file, or a file system without locks
        return (run_folder / OWNER).exists()
    return False


def last_configuration(run_folder: Path) -> str:
    """Return the configuration that was trained last in this folder, or "" if it is not known."""
    path = run_folder / LOCK
    lines = path.read_text().splitlines() if path.exists() else []
    return lines[1] if len(lines) > 1 else ""


def _waiting_message(file: IO[str]) -> str:
    file.seek(0)
    owner = file.readline().strip() or "another process"
    return f"This run is already being trained by {owner}; waiting for it to finish."


def _write(file: IO[str], text: str) -> None:
    os.ftruncate(file.fileno(), 0)
    os.write(file.fileno(), text.encode())  # not buffered: a full disk is an error here, not when the file is closed


def _reserve(run_folder: Path, owner: str, held: ExitStack) -> None:
    """Reserve the run without flock: a lock in the machine's own folder excludes processes of this machine, and a file
    that only one process can create excludes those of other machines."""
    local = machine_folder() / f"run-{digest(str(run_folder.resolve()).encode())[:16]}"
    wait_for_lock([local], held, _waiting_message)
    path = run_folder / OWNER
    try:
        path.open("x").close()
    except FileExistsError:
        holder = path.read_text()
        if not _has_ended(holder):
            raise WarlabError(
                f"This run is already being trained by {holder or 'another process'}; if that has ended, delete {path} "
                "and run the command again."
            ) from None
    path.write_text(owner)
    held.callback(path.unlink, missing_ok=True)


def _has_ended(owner: str) -> bool:
    """Return whether the process has ended, which can be known for processes of this machine only."""
    words = owner.split()
    if len(words) != 4 or words[3] != socket.gethostname():
        return False
    try:
        os.kill(int(words[1]), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return int(words[1]) == os.getpid()


# ---- one GPU for a training: Snakemake counts GPUs but does not number them, so that all jobs would share the first


@contextmanager
def gpu_lease(slots: int, whole: bool = False) -> Iterator[str | None]:
    """Wait for one of the `slots` of a GPU, or for all of them if it must be `whole`, and make this GPU alone visible.

    If a user or a scheduler such as Slurm has set CUDA_VISIBLE_DEVICES, only the GPUs that it names are used. Yields
    None if there is no GPU. Must be entered before CUDA is used; importing torch does not use it.
    """
    before = os.environ.get(VISIBLE)
    gpus = [str(number) for number in range(device_count())] if before is None else visible_entries(before)
    if not gpus:
        yield None
        return
    with ExitStack() as held:
        if whole:
            gpu = _lock_all_slots(gpus, slots, held)
        else:  # every GPU gets its first training before one gets a second
            gpu, _ = _lock_slot([(gpu, f"slot{slot}") for slot in range(slots) for gpu in gpus], held)
        held.callback(_set_visible, before)
        _set_visible(gpu)
        yield gpu


def device_count() -> int:
    """Return the number of GPUs, found without CUDA, which would fix what is visible; WARLAB_GPUS overrides it."""
    number = os.environ.get("WARLAB_GPUS", "")
    return int(number) if number.isdecimal() else len(list(Path("/dev").glob("nvidia[0-9]*")))


def visible_entries(value: str) -> list[str]:
    """Return the numbers and names (GPU-…, MIG-…) of a list as CUDA reads it: up to the first thing that is neither."""
    entries = (entry.strip() for entry in value.split(","))
    return list(takewhile(re.compile(r"\d+$|(GPU|MIG)-.").match, entries))


def _lock_all_slots(gpus: list[str], slots: int, held: ExitStack) -> str:
    """Lock all slots of one GPU, each as it becomes free; only one process at a time collects those of a GPU."""
    gpu, _ = _lock_slot([(gpu, "whole") for gpu in gpus], held)
    left = [(gpu, f"slot{slot}") for slot in range(slots)]
    while left:
        left.remove(_lock_slot(left, held))
    return gpu


def _lock_slot(slots: list[Slot], held: ExitStack) -> Slot:
    """Lock the first of these slots that is free."""
    job = next((f"{os.environ[key]}-" for key in SCHEDULERS if os.environ.get(key)), "")  # jobs may both have a GPU 0
    files = {machine_folder() / re.sub(r"[^\w.-]", "_", f"{job}gpu{gpu}-{name}"): (gpu, name) for gpu, name in slots}
    taken = f"all {len(slots)} GPU slots are taken" if len(slots) > 1 else f"GPU {slots[0][0]} is in use"
    path, _ = wait_for_lock(list(files), held, lambda _: f"{taken}; waiting")
    return files[path]


def _set_visible(value: str | None) -> None:
    os.environ.pop(VISIBLE, None)
    if value is not None:
        os.environ[VISIBLE] = value
