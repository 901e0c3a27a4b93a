"""What every script of the workflow runs in: messages to the job's log and the terminal, errors as one sentence."""

import errno
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from warlab.errors import WarlabError

EXIT_INTERRUPTED = 75  # EX_TEMPFAIL: saved and stopped on request, call again to continue


class Interrupted(Exception):
    """A stop was asked for and the state is saved."""


@contextmanager
def job(log: str, name: str = "") -> Iterator[Callable[[str], None]]:
    """`with job(snakemake.log[0]) as say:` — what is said goes to the log with the time, and to the terminal."""
    path = Path(log)
    path.parent.mkdir(parents=True, exist_ok=True)

    def say(message: str) -> None:
        with path.open("a") as file:
            file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {message}\n")
        print(f"{name}: {message}" if name else message, file=sys.stderr, flush=True)

    try:
        yield say
    except Interrupted as stop:
        say(f"{stop} Call again to continue.")
        sys.exit(EXIT_INTERRUPTED)
    except WarlabError as error:
        say(f"warlab: {error}")
        sys.exit(1)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES):
            raise
        print(
            f"warlab: cannot write {error.filename}: {error.strerror}; free it and call again.",
            file=sys.stderr,
        )
        sys.exit(1)
