"""Every command in README.md and docs/ is carried out as it stands there, as a dry run where it trains."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.test_adding_a_method import PARTS

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PROGRAMS = ("snakemake", "warlab", "make", "pytest", "pip", "source", "tmux")
OPTIONS = ("--config ", "--configfile ", "--workflow-profile ")  # of snakemake, named alone
# What cannot be carried out here, by how the command begins, with the reason.
NOT_HERE = {
    "pip install": "installs packages from a network",
    "source .venv/bin/activate": "is of the user's shell",
    "tmux new": "needs a terminal",
    "snakemake --workflow-profile profiles/mine": "the profile is the user's own copy of profiles/slurm",
    "--workflow-profile profiles/slurm": "needs the Slurm plugin; tests/cluster uses it",
    "--configfile my.yaml": "the file is the user's own; tests/test_own_data.py has one",
    "snakemake --cores 2 --configfile my.yaml": "tests/test_own_data.py carries it out with the page's files",
    "snakemake --cores 1 --config scale=my_scale.yaml": "tests/test_adding_a_method.py carries it out",
    "pytest tests/test_methods.py -k label_smoothing": "the method is there after the page's steps only",
}


def is_command(text: str) -> bool:
    words = text.split()
    return text.startswith(OPTIONS) or (len(words) > 1 and words[0] in PROGRAMS and not text.endswith("…"))


def commands_of(text: str) -> Iterator[str]:
    """Lines of fenced and indented blocks, and code in the text or in a table."""
    blocks = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
    fenced = [block for language, block in blocks.findall(text) if language in ("", "sh", "bash")]
    without = blocks.sub("", text)
    indented = re.findall(r"^ {4,}(\S.*)$", without, re.MULTILINE)
    spans = [" ".join(span.split()) for span in re.findall(r"(?<!`)`([^`]+)`(?!`)", without)]
    lines = [line.split("  #")[0].strip() for block in (*fenced, *indented) for line in block.splitlines()]
    yield from (line for line in [*lines, *spans] if is_command(line))


FOUND = {command: page for page in PAGES for command in commands_of(page.read_text())}
HERE = [command for command in FOUND if not command.startswith(tuple(NOT_HERE))]


def dry(command: str) -> str:
    """The same command, doing nothing where it would train, fetch or install."""
    if command.startswith(OPTIONS):
        command = f"snakemake --cores 1 {command}"
    program, rest = command.split(" ", 1)
    return f"{program} -n {rest}" if program in ("snakemake", "make") and "--unlock" not in rest else command


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("documents")
    for part in (*PARTS, "docs", "tests", "tools", "Makefile", "requirements.txt", "pyproject.toml"):
        (folder / part).symlink_to(ROOT / part)
    return folder


@pytest.mark.parametrize("command", HERE)
def test_a_documented_command_works(command: str, checkout: Path) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        dry(command), shell=True, cwd=checkout, env=environment, capture_output=True, text=True, timeout=300
    )
    said = done.stdout + done.stderr
    assert "Traceback" not in said, f"{FOUND[command].name}: {said[-2000:]}"
    may_find_fault = command.split()[-1] == "doctor"  # of this machine, in its own words
    assert done.returncode == 0 or (may_find_fault and "Wrong: " in said), f"{FOUND[command].name}: {said[-2000:]}"


def test_commands_are_found_and_every_exception_is_one() -> None:
    assert len(HERE) >= 20 and {"README.md", "segmentation.md", "cluster.md"} <= {FOUND[c].name for c in HERE}
    for beginning in NOT_HERE:
        assert any(command.startswith(beginning) for command in FOUND), f"{beginning} stands nowhere"
    assert all(shlex.split(command) for command in FOUND)


@pytest.mark.parametrize("text", ["0.9", "1", "true", "null", "[40, 80]"])
def test_numbers_of_the_command_line_are_read_as_in_a_file(text: str, tmp_path: Path) -> None:
    """Snakemake gives the values inside braces as texts."""
    import yaml
    from snakemake.cli import parse_config

    from warlab.configfiles import as_yaml

    given = parse_config([f"overrides={{methods: {{jocor: {{lam: {text}}}}}}}"])
    assert as_yaml(given["overrides"]) == {"methods": {"jocor": {"lam": yaml.safe_load(text)}}}
