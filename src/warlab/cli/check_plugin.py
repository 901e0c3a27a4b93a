"""`warlab check-plugin`: check a folder of plug-ins, and run the contract tests of warlab's own parts for them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from warlab.config.numbers import FILE
from warlab.config.study import load_study
from warlab.errors import WarlabError
from warlab.registry import SUBFOLDERS, Registry, plugin_file, use_plugins

REQUIRED = {
    "methods": ("Algorithm",),
    "nets": ("Net",),
    "datasets": ("DATASET",),
    "noises": ("KIND",),
    "costs": ("make",),
    "figures": ("TITLE", "SECTION", "NEEDS", "draw"),
}
CONTRACTS = {  # each cost is verified before any training
    "methods": ("tests/methods/test_methods.py", "tests/engine/test_resume.py"),
    "nets": ("tests/nets/test_nets.py",),
    "datasets": ("tests/data/test_data.py",),
    "noises": ("tests/noise/test_noise.py",),
    "figures": ("tests/reporting/test_figures.py", "tests/reporting/test_drawing.py"),
}
NO_TESTS = 5  # exit code of pytest; datasets of tiles or vectors have no contract tests


def check_plugin(folder: str, root: Path) -> tuple[str, bool]:
    """Return a line for each file, and whether all is well."""
    use_plugins(folder)
    lines = dict(_check_files(Path(folder).resolve()))
    if not lines:
        raise WarlabError(f"{folder} has no plug-ins; put files into its folders {', '.join(SUBFOLDERS)}.")
    good = not any(lines.values())
    said = [f"{file}: {problem or 'can be used'}" for file, problem in lines.items()]
    parts = [(kind, name.removesuffix(".py")) for kind, name in (file.split("/") for file in lines)]
    if good:
        _check_numbers(parts, folder, root)
    if good and any(kind in CONTRACTS for kind, _ in parts):
        text, good = _run_contracts(parts, root)
        said.append(text)
    return "\n".join(said), good


def _check_files(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield each file and what is wrong with it; nothing for a good one."""
    for kind, package in SUBFOLDERS.items():
        registry = Registry(package, kind)
        for name in registry.names():
            if (file := plugin_file(registry.module(name))) and file.is_relative_to(folder):
                yield f"{kind}/{name}.py", _problem(kind, registry, name)


def _problem(kind: str, registry: Registry, name: str) -> str:
    try:
        member = registry.load(name)
    except WarlabError as error:  # whatever a user's file raises
        return str(error)
    missing = [needed for needed in REQUIRED[kind] if not hasattr(member, needed)]
    if missing:
        return f"has no {' and no '.join(missing)}; see docs/extending.md"
    dataset = getattr(member, "DATASET", None)
    return f"is named {name}, and its DATASET {dataset.name!r}" if dataset and dataset.name != name else ""


def _check_numbers(parts: list[tuple[str, str]], folder: str, root: Path) -> None:
    """Raise a WarlabError if a value is wrong, or if a dataset or cost has none and could not be used."""
    numbers = load_study({"scale": "smoke", "plugins": folder}, root).numbers  # any scale checks all values
    costs = {settings["kind"].value for settings in numbers.costs.values()}
    for kind, section, known in (("datasets", "training", set(numbers.training)), ("costs", "costs", costs)):
        for name in (name for one, name in parts if one == kind and name not in known):
            where = f"`{section}:` in {Path(folder) / FILE}"
            raise WarlabError(f"{kind}/{name}.py has no entry under {where}; docs/extending.md shows one.")


def _run_contracts(parts: list[tuple[str, str]], root: Path) -> tuple[str, bool]:
    """Run the tests that warlab's own parts pass, in a process that has the plug-ins."""
    files = dict.fromkeys(file for kind, _ in parts for file in CONTRACTS.get(kind, ()))
    if not find_spec("pytest") or not all((root / file).is_file() for file in files):
        raise WarlabError("The contract tests need the repository and its environment: run make setup there.")
    names = [name for kind, name in parts if kind in CONTRACTS]
    chosen = " or ".join(f"[{name}] or [{name}-" for name in names)  # the parameters of tests, not words in their names
    call = [sys.executable, "-m", "pytest", "-q", "--no-header", *files, "-k", chosen]
    wide = os.environ | {"COLUMNS": "1000"}  # else pytest leaves out the reasons
    done = subprocess.run(call, cwd=root, capture_output=True, text=True, env=wide)
    summary = done.stdout.strip().splitlines()
    failed = [line for line in summary if line.startswith(("FAILED", "ERROR"))]
    return "\n".join([*failed, f"contract tests of {', '.join(names)}: {summary[-1]}"]), done.returncode in (
        0,
        NO_TESTS,
    )
