"""The context in which every script runs: messages go to the job's log and the terminal, errors are one sentence."""

import errno
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from warlab.errors import Interrupted, WarlabError
from warlab.registry import place_in_plugin, plugins

EXIT_INTERRUPTED = 75  # EX_TEMPFAIL: saved and stopped on request, run again to resume
EXIT_KEYBOARD = 130  # the exit code of shells after Ctrl-C
logger = logging.getLogger("warlab")


def files_by_role(inputs: Any) -> dict[str, str]:
    """Return the input of each role that a job has; an input function that returns a list gives one file or none."""
    files = {role: [given] if isinstance(given, str) else list(given) for role, given in inputs.items()}
    return {role: str(given[0]) for role, given in files.items() if given}


@contextmanager
def job(log: str, name: str = "", history: Path | None = None) -> Iterator[logging.Logger]:
    """`with job(snakemake.log[0]):` writes the messages of warlab to the log, with the time, and to the terminal.

    Snakemake empties the log before every attempt; `history` keeps the messages of all attempts.
    """
    files = [Path(log), *([history] if history else [])]
    with _logging_to(files, name):
        try:
            for file in files:
                file.parent.mkdir(parents=True, exist_ok=True)
            yield logger
        except Interrupted as stop:
            logger.info(f"{stop} Run the same command again to resume.")
            sys.exit(EXIT_INTERRUPTED)
        except KeyboardInterrupt:
            logger.info("stopped by Ctrl-C. Run the same command again to resume.")
            sys.exit(EXIT_KEYBOARD)
        except WarlabError as error:
            logger.error(f"warlab: {error}")
            sys.exit(1)
        except OSError as error:
            _log_unless_full(f"warlab: {unwritable(error) or f'{type(error).__name__}: {error}'}")
            if unwritable(error) is None:
                raise
            sys.exit(1)
        except Exception as error:
            text = " ".join(str(error).split())
            logger.error(f"warlab: unexpected {type(error).__name__}: {text}; {_remedy(error)}.")
            raise


def _remedy(error: Exception) -> str:
    """Return what to do about an error that nobody foresaw; a plug-in of the user's is its most likely cause."""
    if place := place_in_plugin(error):
        return f"correct {place}"
    folders = " or ".join(map(str, plugins()))
    return (
        f"call warlab check-plugin {folders}, or report it if your plug-ins are right"
        if folders
        else "please report it"
    )


@contextmanager
def _logging_to(files: list[Path], name: str) -> Iterator[None]:
    terminal = logging.StreamHandler(sys.stderr)
    terminal.setFormatter(logging.Formatter((f"{name}: " if name else "").replace("%", "%%") + "%(message)s"))
    handlers: list[logging.Handler] = [*map(_LogFile, files), terminal]
    level = logger.level
    logger.setLevel(logging.INFO)
    for handler in handlers:
        logger.addHandler(handler)
    try:
        yield
    finally:
        logger.setLevel(level)
        for handler in handlers:
            logger.removeHandler(handler)


class _LogFile(logging.Handler):
    """Opens the file for every line, so that it can be moved. Unlike a FileHandler, it raises if the disk is full."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%d %H:%M:%S"))

    def emit(self, record: logging.LogRecord) -> None:
        with self.path.open("a") as file:
            file.write(f"{self.format(record)}\n")


def unwritable(error: OSError) -> str | None:
    """Return what the user can do about a file that cannot be written, or None for any other error."""
    remedy = {
        errno.ENOSPC: "free some space",
        errno.EDQUOT: "your quota is used up, free some space",
        errno.EROFS: "the file system is read-only, choose another results_root",
        errno.EACCES: "change its permissions, or choose another results_root",
    }.get(error.errno or 0)
    if remedy is None:
        return None
    place = f"{error.filename} cannot be written" if error.filename else "A file cannot be written"
    return f"{place} ({error.strerror}); {remedy} and run the command again."


def _log_unless_full(message: str) -> None:
    """If the log is on the full disk, only the terminal shows the message."""
    try:
        logger.error(message)
    except OSError:
        print(message, file=sys.stderr, flush=True)
