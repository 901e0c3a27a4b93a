"""Counts of what a fault test did, kept for the table of docs/reliability.md when `make test-faults` asks for it."""

import fcntl
import json
import os
from pathlib import Path

COUNTS = "WARLAB_FAULT_COUNTS"  # the file; unset in `make test`


def long() -> bool:
    """True in `make test-faults`: the full number of kills and mutations."""
    return COUNTS in os.environ


def count(what: str, n: int = 1, lost: int = 0) -> None:
    """Add to the counts: `n` faults of a kind, of which `lost` cost something."""
    if not long():
        return
    with Path(os.environ[COUNTS]).open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(json.dumps({"what": what, "n": n, "lost": lost}) + "\n")
