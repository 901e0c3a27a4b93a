"""What was found in source files, kept between calls in the folder where Snakemake keeps its own notes.

Parsing all modules takes most of the time that reading the rules does, and on a cluster every job reads the rules. A
source file is known by the hash of its content, so what is kept can never be out of date.
"""

import atexit
import json
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

from warlab.common.files import file_digest, write_text

NOTES = Path(".snakemake")
MOST = 2000  # files that are remembered, the latest ones
Found = dict[str, list[str]]  # what was found in one file


class TreeStore:
    """Digest of a source file → what was found in it. One that cannot be read or written is only slower."""

    def __init__(self, file: Path) -> None:
        self.file, self.new = file, False
        self.known: dict[str, Found] = _read(file)

    def add(self, digest: str, found: Found) -> None:
        if not self.new:
            atexit.register(self.save)
        self.known[digest], self.new = found, True

    def save(self) -> None:
        if self.file.parent.is_dir():
            with suppress(OSError):  # a read-only or full disk
                write_text(self.file, json.dumps(dict(list(self.known.items())[-MOST:])))


@cache
def store(reader: Path) -> TreeStore:
    """The store of what `reader`, a source file itself, finds: another reader or Python may find something else."""
    version = f"{file_digest(reader)[:16]}-{sys.version_info.major}.{sys.version_info.minor}"
    return TreeStore((NOTES / f"warlab-trees-{version}.json").resolve())


def _read(file: Path) -> dict[str, Found]:
    try:
        known = json.loads(file.read_text())
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}
