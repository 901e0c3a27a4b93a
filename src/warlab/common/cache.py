"""Values that are remembered from one command to the next, in Snakemake's own folder."""

import atexit
import json
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from warlab.common.files import file_digest, write_text

FOLDER = Path(".snakemake")
MOST = 200_000  # entries; the oldest are dropped


class FileCache:
    """A dictionary in a JSON file, written when the process ends. If the file cannot be read, all is computed again."""

    def __init__(self, name: str, folder: Path = FOLDER) -> None:
        self.file = (folder / f"warlab-{name}.json").resolve()
        self.known: dict[str, Any] = {}
        with suppress(OSError, ValueError, TypeError):
            self.known |= json.loads(self.file.read_text())
        self.loaded = len(self.known)
        atexit.register(self.save)

    def get(self, key: str, compute: Callable[[], Any]) -> Any:
        if key not in self.known:
            self.known[key] = compute()
        return self.known[key]

    def save(self) -> None:
        if len(self.known) > self.loaded and self.file.parent.is_dir():
            with suppress(OSError):  # a read-only or full disk
                write_text(self.file, json.dumps(dict(list(self.known.items())[-MOST:])))


@cache
def _contents() -> FileCache:
    return FileCache("contents")


def remembered_digest(path: Path) -> str:
    """Return the checksum of a file, computed again only if its path, size or time has changed."""
    status = path.stat()
    key = f"{path.resolve()} {status.st_size} {status.st_mtime_ns}"
    return str(_contents().get(key, lambda: file_digest(path)))
