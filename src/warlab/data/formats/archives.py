"""Archives and pickles, read into memory: nothing is unpacked to a path in an archive, no program in a pickle is run.

An archive is refused if one of its members has an absolute path or `..` in it, or is a link or a device. A pickle is a
program, and old data files are pickles: the few names below are all that it may call. Its checksum is compared before
it is read.
"""

import io
import pickle
import tarfile
import zipfile
import zlib
from collections.abc import Collection
from pathlib import Path, PurePosixPath
from typing import IO, Any

import numpy as np

from warlab.errors import WarlabError

MOST_BYTES = 1 << 30  # all members together; CIFAR, the largest, has 178 MB
_MOST_MEMBERS = 10_000


def read_tar(path: Path | IO[bytes], wanted: Collection[str], most: int = MOST_BYTES) -> dict[str, bytes]:
    """Return the wanted members of a tar file, compressed or not, by their names."""
    contents: dict[str, bytes] = {}
    try:
        with tarfile.open(path) if isinstance(path, Path) else tarfile.open(fileobj=path) as archive:
            _check_members(archive, path, most)
            members = {member.name: member for member in archive.getmembers()}
            for name in wanted:
                file = archive.extractfile(members[name])
                if file is None:
                    raise KeyError(name)
                contents[name] = file.read()
    except KeyError as error:
        raise WarlabError(f"{path} has no member {error}; fetch it again.") from error
    except (OSError, EOFError, tarfile.TarError, zlib.error) as error:
        reason = str(error).splitlines()[0].rstrip(":")  # tarfile adds a line for every compression that it tried
        raise WarlabError(f"{path} is not a complete tar file ({reason}); delete it and fetch it again.") from error
    return contents


def _check_members(archive: tarfile.TarFile, path: Path | IO[bytes], most: int) -> None:
    total = 0
    for number, member in enumerate(archive):
        total += member.size
        name, problem = PurePosixPath(member.name), ""
        if name.is_absolute() or ".." in name.parts:
            problem = "lies outside the archive"
        elif not member.isreg() and not member.isdir():
            problem = "is neither a file nor a folder"
        elif total > most:
            problem = "unpacks to too much"
        elif number >= _MOST_MEMBERS:
            problem = "is one member too many"
        if problem:
            raise WarlabError(f"{path} is refused: {member.name!r} {problem}.")


def read_zip(file: Path | IO[bytes], name: str, most: int = MOST_BYTES) -> bytes:
    """Return one member of a zip file. Its real size is limited, whatever its header says."""
    try:
        with zipfile.ZipFile(file) as archive, archive.open(name) as member:
            content = member.read(most + 1)
    except (OSError, EOFError, KeyError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as error:
        raise WarlabError(f"{file} has no readable member {name} ({error}); fetch it again.") from error
    if len(content) > most:
        raise WarlabError(f"{file} is refused: {name} unpacks to more than {most} bytes.")
    return content


def _empty_array(kind: type, shape: object, code: object) -> np.ndarray:
    """The first call in a pickle of numpy; shape and content follow as plain data, and numpy compares their sizes."""
    return np.empty((0,), np.int8)


_ALLOWED: dict[tuple[str, str], Any] = {
    ("numpy.core.multiarray", "_reconstruct"): _empty_array,
    ("numpy._core.multiarray", "_reconstruct"): _empty_array,
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("_codecs", "encode"): lambda text, encoding="latin1": text.encode("latin1"),  # bytes, as protocol 2 stores them
}


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}")
        return _ALLOWED[module, name]


def load_pickle(content: bytes, name: str) -> Any:
    """Read arrays in dicts, lists and tuples; strings of Python 2 are decoded as latin1."""
    try:
        return _Reader(io.BytesIO(content), encoding="latin1").load()
    except Exception as error:  # damaged pickles raise anything
        raise WarlabError(f"{name} is refused as a pickle of arrays ({error}); fetch it again.") from error


def dump_pickle(value: Any) -> bytes:
    """Return a pickle like the official files, in the protocol that Python 2 could read."""
    return pickle.dumps(value, protocol=2)
