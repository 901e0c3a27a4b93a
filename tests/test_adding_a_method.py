"""docs/adding-a-method.md, done literally: its snippets put in place, its command run, its method in the table."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "adding-a-method.md").read_text()
PARTS = ("Snakefile", "config", "envs", "profiles", "rules", "src", "workflow")


def snippet(after: str) -> str:
    """The first block of code after these words of the page."""
    match = re.search(r"```\w+\n(.*?)```", PAGE[PAGE.index(after) :], re.DOTALL)
    assert match is not None
    return match[1]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the repository in which the page's first three steps are done."""
    for part in PARTS:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copyfile
        copy(ROOT / part, tmp_path / part)
    for file in ("src/warlab/methods/label_smoothing.py", "my_scale.yaml"):
        (tmp_path / file).write_text(snippet(f"`{file}`:"))
    numbers = tmp_path / "config" / "hyperparameters.yaml"
    text = numbers.read_text()
    assert text.count("\nmethods:\n") == 1
    numbers.write_text(text.replace("\nmethods:\n", "\nmethods:\n" + snippet("Below the line `methods:`")))
    return tmp_path


def test_the_page_leads_to_a_row_in_the_table(checkout: Path) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(checkout / "src")}
    done = subprocess.run(
        snippet("## 4. Run it"), shell=True, cwd=checkout, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    folder = checkout / "results" / "my_scale" / "tables"
    table = pd.read_csv(folder / "main_benchmark.csv")
    row = table[(table["method"] == "label_smoothing") & (table["metric"] == "test_accuracy")]
    assert len(row) == 1 and 0 < row["mean"].item() <= 100 and row["data"].item() == "stand-in"
    assert "| Label smoothing |" in (folder / "main_benchmark.md").read_text()


def test_every_file_that_the_page_names_exists() -> None:
    for name in re.findall(r"`(\w+\.py)`", PAGE):
        assert (ROOT / "src" / "warlab" / "methods" / name).exists(), name
