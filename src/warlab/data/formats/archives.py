"""Members of archives read into memory: nothing is ever unpacked to where an archive says.

An archive with a member that a tidy one does not have (an absolute path, `..`, a link, a device) is refused whole.
"""

import tarfile
import zipfile
import zlib
from collections.abc import Collection
from pathlib import Path, PurePosixPath
from typing import IO

from warlab.errors import WarlabError

MOST_BYTES = 1 << 30  # all members together; CIFAR, the largest, has 178 MB
_MOST_MEMBERS = 10_000


def read_tar(path: Path, wanted: Collection[str], most: int = MOST_BYTES) -> dict[str, bytes]:
    """The wanted members of a tar file, compressed or not, by their names."""
    try:
        with tarfile.open(path) as archive:
            members = _checked(archive, path, most)
            return {name: _content(archive, members[name]) for name in wanted}
    except KeyError as error:
        raise WarlabError(f"{path} has no member {error}; fetch it again.") from error
    except (OSError, EOFError, tarfile.TarError, zlib.error) as error:
        raise WarlabError(f"{path} is not a whole tar file ({error}); delete it and fetch it again.") from error


def _checked(archive: tarfile.TarFile, path: Path, most: int) -> dict[str, tarfile.TarInfo]:
    members: dict[str, tarfile.TarInfo] = {}
    total = 0
    for member in archive:
        total += member.size
        name, problem = PurePosixPath(member.name), ""
        if name.is_absolute() or ".." in name.parts:
            problem = "lies outside the archive"
        elif not member.isreg() and not member.isdir():
            problem = "is neither a file nor a folder"
        elif total > most:
            problem = "unpacks to too much"
        elif len(members) >= _MOST_MEMBERS:
            problem = "is one member too many"
        if problem:
            raise WarlabError(f"{path} is refused: {member.name!r} {problem}.")
        members[member.name] = member
    return members


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(member)
    if file is None:
        raise KeyError(member.name)
    return file.read()


def read_zip(file: Path | IO[bytes], name: str, most: int = MOST_BYTES) -> bytes:
    """One member of a zip file; what it really holds counts, not what its header says."""
    try:
        with zipfile.ZipFile(file) as archive, archive.open(name) as member:
            content = member.read(most + 1)
    except (OSError, EOFError, KeyError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as error:
        raise WarlabError(f"{file} has no readable member {name} ({error}); fetch it again.") from error
    if len(content) > most:
        raise WarlabError(f"{file} is refused: {name} unpacks to more than {most} bytes.")
    return content
