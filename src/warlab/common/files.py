"""Reading files, and writing them atomically: a temporary file in the same folder, fsync, rename."""

import hashlib
import json
import os
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

import numpy as np

from warlab.errors import WarlabError


def write_atomic(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Call `write(file)` on a temporary file in the folder of `path`, then rename it to `path`."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        with temporary.open("xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    write_atomic(path, lambda file: file.write(text.encode()))


def write_json(path: Path, value: Any) -> None:
    write_text(path, json.dumps(value, indent=2, sort_keys=True) + "\n")


def read_json(path: Path) -> Any:
    try:
        return json.loads(Path(path).read_text())
    except (OSError, ValueError) as error:
        raise WarlabError(f"{path} cannot be read as JSON ({error}); delete it and run again.") from error


def write_arrays(path: Path, **arrays: np.ndarray) -> None:
    """Write a compressed npz file, whose bytes depend only on the arrays (numpy stores no times in it)."""
    write_atomic(path, lambda file: np.savez_compressed(file, **arrays))  # type: ignore[arg-type]


def read_arrays(path: Path, *names: str, advice: str = "delete it and run again") -> dict[str, np.ndarray]:
    """Read the named arrays of an npz file, or all of them; `advice` is for people whose file it is."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in names or file.files}
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error, MemoryError) as error:
        raise WarlabError(f"{path} is not a readable npz file ({error}); {advice}.") from error


def digest(data: bytes | np.ndarray, algorithm: str = "sha256") -> str:
    """Return the checksum of bytes, or of an array's dtype, shape and content."""
    checksum = hashlib.new(algorithm)
    if not isinstance(data, bytes):
        checksum.update(f"{data.dtype.str}{data.shape}".encode())
        data = np.ascontiguousarray(data).tobytes()
    checksum.update(data)
    return checksum.hexdigest()


def file_digest(path: Path, algorithm: str = "sha256") -> str:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()
