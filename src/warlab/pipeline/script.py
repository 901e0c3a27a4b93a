"""What every script of the workflow runs in: messages to the job's log and the terminal, errors as one sentence."""

import errno
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from warlab.errors import Interrupted, WarlabError

EXIT_INTERRUPTED = 75  # EX_TEMPFAIL: saved and stopped on request, call again to continue

EXIT_KEYBOARD = 130  # what a shell makes of Ctrl-C


@contextmanager
def job(log: str, name: str = "", history: Path | None = None) -> Iterator[Callable[[str], None]]:
    """`with job(snakemake.log[0]) as say:` — what is said goes to the log with the time, and to the terminal.

    Snakemake empties the log before every try; what was said in all tries stands in `history`.
    """
    paths = [Path(log), *([history] if history else [])]

    def say(message: str) -> None:
        for path in paths:
            with path.open("a") as file:
                file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {message}\n")
        print(f"{name}: {message}" if name else message, file=sys.stderr, flush=True)

    try:
        for path in paths:
            path.parent.mkdir(parents=True, exist_ok=True)
        yield say
    except Interrupted as stop:
        say(f"{stop} Call again to continue.")
        sys.exit(EXIT_INTERRUPTED)
    except KeyboardInterrupt:
        say("stopped by Ctrl-C. Call again to continue.")
        sys.exit(EXIT_KEYBOARD)
    except WarlabError as error:
        say(f"warlab: {error}")
        sys.exit(1)
    except OSError as error:
        _unless_full(say, f"warlab: {unwritable(error) or f'{type(error).__name__}: {error}'}")
        if unwritable(error) is None:
            raise
        sys.exit(1)
    except Exception as error:
        say(f"warlab: unexpected {type(error).__name__}: {' '.join(str(error).split())}; please report it.")
        raise


def unwritable(error: OSError) -> str | None:
    """The sentence for what a user can mend on the disk, or None for another error."""
    what = {
        errno.ENOSPC: "free some space",
        errno.EDQUOT: "your quota is used up, free some space",
        errno.EROFS: "the file system is read-only, choose another results_root",
        errno.EACCES: "change its permissions, or choose another results_root",
    }.get(error.errno or 0)
    if what is None:
        return None
    place = f"{error.filename} cannot be written" if error.filename else "A file cannot be written"
    return f"{place} ({error.strerror}); {what} and call again."


def _unless_full(say: Callable[[str], None], message: str) -> None:
    """The log may lie on the disk that is full: then the terminal alone hears it."""
    try:
        say(message)
    except OSError:
        print(message, file=sys.stderr, flush=True)
