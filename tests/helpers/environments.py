"""Environments whose packages are links to the installed ones: torch, numpy and their dependencies, or more."""

import importlib.metadata as metadata
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def run(call: list[str], cwd: Path, **environment: str) -> str:
    """Return what a command prints; it does not see PYTHONPATH, and with it the repository."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(call, cwd=cwd, capture_output=True, text=True, env=kept | environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def closure(*packages: str, extra: str = "") -> set[str]:
    """Return the names of these packages, with an extra of theirs, and of all that they need."""
    todo, found = [(name, extra) for name in packages], dict[str, set[str]]()
    while todo:
        name, wanted = todo.pop()
        if wanted not in found.setdefault(canonicalize_name(name), set()):
            found[canonicalize_name(name)].add(wanted)
            needs = [Requirement(text) for text in metadata.requires(name) or []]
            needs = [one for one in needs if one.marker is None or one.marker.evaluate({"extra": wanted})]
            todo += [(one.name, also) for one in needs for also in ("", *one.extras)]
    return set(found)


def core() -> set[str]:
    """Return the names of torch, numpy and their dependencies."""
    return closure("torch", "numpy")


def core_environment(folder: Path, *further: Path) -> str:
    """Make an environment with the core and these folders on its path, and return its Python."""
    return linked_environment(folder, core(), further)


def linked_environment(folder: Path, packages: set[str], further: Iterable[Path] = ()) -> str:
    """Make an environment with these packages and return its Python. They are links outside of it, where pip removes
    nothing."""
    links = folder / "packages"
    run([sys.executable, "-m", "venv", "--without-pip", str(folder)], folder.parent)
    links.mkdir()
    for name in packages:
        _link(name, links)
    (place,) = folder.glob("lib/python*/site-packages")
    (place / "packages.pth").write_text("\n".join(map(str, (links, *further))) + "\n")
    return str(folder / "bin" / "python")


def _link(name: str, into: Path) -> None:
    for file in metadata.files(name) or []:
        top = Path(file).parts[0]
        if top not in ("..", "__pycache__") and not (into / top).exists():
            (into / top).symlink_to(Path(str(metadata.distribution(name).locate_file(top))))


def install(python: str, *packages: str) -> subprocess.CompletedProcess:
    call = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--disable-pip-version-check"]
    return subprocess.run([*call, *packages], capture_output=True, text=True, timeout=900)


@contextmanager
def installed_apart(folder: Path, *packages: str) -> Iterator[Path]:
    """Install packages into a folder of their own, without what they need, and import from it for a while."""
    call = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--target"]
    if subprocess.run([*call, str(folder), *packages], capture_output=True, timeout=600).returncode:
        pytest.skip(f"{', '.join(packages)} cannot be installed here")
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(folder)):
            del sys.modules[name]
