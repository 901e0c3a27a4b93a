"""Checkouts of the repository in which tests run commands as a user would."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

PARTS = ("Snakefile", "config", "envs", "profiles", "rules", "src", "workflow")
PATIENCE = 900  # seconds: enough on a busy machine, and a command that hangs still ends


def copy_repository(folder: Path, *more: str) -> Path:
    """Copy what the workflow needs, and `more`, so that a test can edit it."""
    for part in (*PARTS, *more):
        (folder / part).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copyfile
        copy(ROOT / part, folder / part)
    return folder


def link_repository(folder: Path, *more: str) -> Path:
    """Link what the workflow needs, and `more`, for a test that only reads it."""
    for part in (*PARTS, *more):
        (folder / part).symlink_to(ROOT / part)
    return folder


def environment(folder: Path, **variables: str) -> dict[str, str]:
    """Return the environment of a user who has activated .venv and works in this checkout."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(folder / "src"), **variables}


def run(command: str | list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a line of shell or a list of arguments in a checkout."""
    return subprocess.run(
        command,
        shell=isinstance(command, str),
        cwd=folder,
        env=environment(folder, **variables),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def output_of(command: str | list[str], folder: Path, **variables: str) -> str:
    """Return what a command prints; it must succeed."""
    done = run(command, folder, **variables)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout + done.stderr


def planned_jobs(output: str) -> dict[str, int]:
    """Return the table that a dry run prints: rule → number of jobs; empty if there is nothing to do."""
    return {name: int(number) for name, number in re.findall(r"^(\w+) +(\d+)$", output, re.MULTILINE)}


def changed_files(before: dict[str, bytes], after: dict[str, bytes]) -> set[str]:
    """Return the files that are new or have another content."""
    return {path for path in after if after[path] != before.get(path)}


def contents(folder: Path) -> dict[str, bytes]:
    """Return the content of every file of a checkout that the workflow reads."""
    files = (path for part in PARTS for path in [folder / part, *(folder / part).rglob("*")])
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in files
        if path.is_file() and "__pycache__" not in path.parts
    }
