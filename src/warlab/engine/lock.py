"""One writer for a run's folder: a locked file that stays there, so that nobody waits on a file that is gone.

The lock ends with its process, however that ends. Nothing here needs torch, so that `warlab status` can ask.
"""

import errno
import fcntl
import logging
import os
import socket
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import IO

from warlab.common.files import digest
from warlab.errors import WarlabError

logger = logging.getLogger(__name__)
UNSUPPORTED = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)  # flock on some mounts of Lustre and NFS


def lock_file(run_folder: Path) -> Path:
    """Outside the folder of checkpoints, which users clean; its lines are the process and the configuration."""
    return run_folder / ".lock"


def owner_file(run_folder: Path) -> Path:
    """Who trains on a file system without flock; there is none where flock works."""
    return run_folder / ".lock-owner"


@contextmanager
def only_writer(run_folder: Path, configuration: str = "") -> Iterator[None]:
    """Wait until no other process trains in this folder: a killed snakemake leaves its jobs running."""
    run_folder.mkdir(parents=True, exist_ok=True)
    path, owner = lock_file(run_folder), f"process {os.getpid()} on {socket.gethostname()}"
    with ExitStack() as held:
        try:
            file = held.enter_context(_waited_for(path))
        except OSError as error:
            if error.errno not in UNSUPPORTED:
                raise
            instead = "the run is reserved by a file instead."
            logger.info(f"The file system of {path} cannot lock files ({error.strerror}); {instead}")
            file = held.enter_context(path.open("a+"))
            _reserve(run_folder, owner, held)
        _sweep(run_folder)
        _write(file, f"{owner}\n{configuration}\n")
        try:
            yield
        finally:
            with suppress(OSError):  # a note for `warlab status`, no reason to fail
                _write(file, f"\n{configuration}\n")


def is_locked(run_folder: Path) -> bool:
    """Whether a process trains here; the shared lock that asks is let go at once, and only delays a starting run."""
    try:
        with lock_file(run_folder).open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # no such file, or a file system without locks
        return owner_file(run_folder).exists()
    return False


def last_configuration(run_folder: Path) -> str:
    """Which configuration was trained last in this folder, or nothing if that is not known."""
    path = lock_file(run_folder)
    lines = path.read_text().splitlines() if path.exists() else []
    return lines[1] if len(lines) > 1 else ""


def machine_folder() -> Path:
    """For locks among the processes of this user on this machine, whatever study they belong to."""
    folder = Path(tempfile.gettempdir()) / f"warlab-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise WarlabError(f"{folder} is not a folder of yours; set TMPDIR to a folder that belongs to you.")
    return folder


def _waited_for(path: Path) -> IO[str]:
    """The locked file. One that was deleted while it was waited for locks nobody out, so that its successor is."""
    while True:
        with ExitStack() as unless_returned:
            file = unless_returned.enter_context(path.open("a+"))
            _wait(file)
            if _is_in_place(file, path):
                unless_returned.pop_all()
                return file


def _wait(file: IO[str]) -> None:
    for waited in count():
        with suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        if waited % 60 == 0:
            file.seek(0)
            holder = file.readline().strip() or "Another process"
            logger.info(f"{holder} trains this run already; waiting for it to end.")
        time.sleep(1)


def _is_in_place(file: IO[str], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _write(file: IO[str], text: str) -> None:
    os.ftruncate(file.fileno(), 0)
    os.write(file.fileno(), text.encode())  # nothing stays in a buffer that a full disk would refuse later


def _reserve(run_folder: Path, owner: str, held: ExitStack) -> None:
    """Without flock: a lock of this machine against its own processes, a file that only one can make against others."""
    local = machine_folder() / f"run-{digest(str(run_folder.resolve()).encode())[:16]}"
    held.enter_context(_waited_for(local))
    path = owner_file(run_folder)
    try:
        path.open("x").close()
    except FileExistsError:
        holder = path.read_text()
        if not _has_ended(holder):
            raise WarlabError(
                f"{holder or 'Another process'} trains this run already; if it has ended, delete {path} and call again."
            ) from None
    path.write_text(owner)
    held.callback(path.unlink, missing_ok=True)


def _has_ended(owner: str) -> bool:
    """Known of processes of this machine only."""
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


def _sweep(run_folder: Path) -> None:
    """What a killed process was writing: without this, every kill would leave a file as large as a checkpoint."""
    for file in [*run_folder.glob(".*.*"), *run_folder.glob("checkpoint/*/.*.*")]:
        file.unlink(missing_ok=True)
