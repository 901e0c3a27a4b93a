"""docs/extending.md, done literally: a figure, a table and a claim, each by the files of its row and no others."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "extending.md").read_text()
PARTS = ("Snakefile", "config", "envs", "profiles", "rules", "src", "workflow", "docs/evidence/laptop")
NAMES = {"<name>": "forgetting", "<scale>": "laptop"}


def snippets(title: str) -> list[str]:
    """The blocks of code of a section of the page."""
    section = PAGE[PAGE.index(f"## {title}\n") :].split("\n## ")[0]
    return re.findall(r"```\w+\n(.*?)```", section, re.DOTALL)


def row(of: str) -> set[str]:
    """The files that CONTRIBUTING.md says to touch."""
    line = next(line for line in (ROOT / "CONTRIBUTING.md").read_text().splitlines() if line.startswith(f"| {of} |"))
    files = re.findall(r"`((?:src|config)/[^`]*)`", line.split("|")[2])
    for name, example in NAMES.items():
        files = [file.replace(name, example) for file in files]
    return set(files)


def add_a_figure(root: Path) -> None:
    (root / "src/warlab/reporting/figures/forgetting.py").write_text(snippets("A figure")[0])


def add_a_table(root: Path) -> None:
    entry, name = snippets("A table")
    for file, text in (("experiments.yaml", entry), ("scales/laptop.yaml", name)):
        path = root / "config" / file
        path.write_text(path.read_text().rstrip("\n") + "\n" + text)


def add_a_claim(root: Path) -> None:
    entry, check = snippets("A claim")
    for file, text in (("config/claims.yaml", entry), ("src/warlab/reporting/claims/checks.py", f"\n\n{check}")):
        path = root / file
        path.write_text(path.read_text().rstrip("\n") + "\n" + text)


ADDED = {"a figure": add_a_figure, "a table": add_a_table, "a claim": add_a_claim}


def contents(root: Path) -> dict[str, bytes]:
    files = (path for part in ("src", "config", "rules", "workflow") for path in (root / part).rglob("*.*"))
    return {str(path.relative_to(root)): path.read_bytes() for path in files if path.is_file()}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository in which all three are added, each by the files of its row."""
    root = tmp_path_factory.mktemp("checkout")
    for part in PARTS:
        (root / part).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copyfile
        copy(ROOT / part, root / part)
    for of, add in ADDED.items():
        before = contents(root)
        add(root)
        after = contents(root)
        assert {file for file in after if after[file] != before.get(file)} == row(of), of
    return root


def test_the_rows_lead_to_a_figure_a_table_and_a_verdict(checkout: Path) -> None:
    """From the kept runs of the laptop study, without training."""
    results = checkout / "results" / "laptop"
    targets = ["figures/forgetting.png", "tables/two_methods.csv", "claims.csv"]
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--quiet", "--config", "scale=laptop"]
    command += ["runs_from=docs/evidence/laptop", "--", *(f"results/laptop/{target}" for target in targets)]
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "minus that of the last epoch" in next((results / "figures").glob("forgetting*.txt")).read_text()
    table = pd.read_csv(results / "tables" / "two_methods.csv").set_index("method")
    assert table["mean"].round(2).to_dict() == {"cce": 78.66, "war_w2v": 83.06}
    verdict = pd.read_csv(results / "claims.csv").set_index("id").loc["war_fewer_errors"]
    assert verdict["verdict"] == "undecided, points against"  # 16.94 / 21.34 = 0.79, and no interval
    assert "WAR_w2v / CCE = 0.79" in verdict["numbers"]
