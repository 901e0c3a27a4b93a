"""Environments whose packages are links to the installed ones: torch, numpy and their dependencies, or more."""

import importlib.metadata as metadata
import os
import subprocess
import sys
from pathlib import Path

from packaging.requirements import Requirement


def run(call: list[str], cwd: Path, **environment: str) -> str:
    """Return what a command prints; it does not see PYTHONPATH, and with it the repository."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(call, cwd=cwd, capture_output=True, text=True, env=kept | environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def core() -> set[str]:
    """Return the names of torch, numpy and their dependencies."""
    todo, found = ["torch", "numpy"], set[str]()
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            needs = [Requirement(text) for text in metadata.requires(name) or []]
            todo += [one.name for one in needs if one.marker is None or one.marker.evaluate({"extra": ""})]
    return found


def core_environment(folder: Path, *further: Path) -> str:
    """Make an environment with the core and these folders on its path, and return its Python."""
    return _environment(folder, core(), further)


def environment_without_warlab(folder: Path) -> str:
    """Make an environment that has all installed packages except warlab, and return its Python."""
    return _environment(folder, {one.name for one in metadata.distributions()} - {"warlab"}, ())


def _environment(folder: Path, packages: set[str], further: tuple[Path, ...]) -> str:
    """The packages are links outside of the environment, where pip removes nothing."""
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
