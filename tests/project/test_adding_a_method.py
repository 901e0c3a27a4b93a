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
from tests.helpers.scripts import snippet

PAGE = (ROOT / "docs" / "adding-a-method.md").read_text()
PARTS = ("Snakefile", "config", "envs", "profiles", "rules", "src", "workflow")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the repository in which the page's first two steps are done: one file, and its name in a scale."""
    for part in PARTS:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copyfile
        copy(ROOT / part, tmp_path / part)
    for file in ("src/warlab/methods/label_smoothing.py", "my_scale.yaml"):
        (tmp_path / file).write_text(snippet(PAGE, f"`{file}`:"))
    return tmp_path


def test_the_page_leads_to_a_row_in_the_table(checkout: Path) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(checkout / "src")}
    done = subprocess.run(
        snippet(PAGE, "## 3. Run it"),
        shell=True,
        cwd=checkout,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    folder = checkout / "results" / "my_scale" / "tables"
    table = pd.read_csv(folder / "main_benchmark.csv")
    row = table[(table["method"] == "label_smoothing") & (table["metric"] == "test_accuracy")]
    assert len(row) == 1 and 0 < row["mean"].item() <= 100 and row["data"].item() == "stand-in"
    assert "| Label smoothing |" in (folder / "main_benchmark.md").read_text()


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ("share=2", "The method label_smoothing+share=2: methods.label_smoothing.share is 2; it must be a number"),
        ("shar=0.2", "changes 'shar', which is not a setting of the method; did you mean 'share'?"),
    ],
)
def test_the_richer_line_of_the_page_is_checked_before_anything_runs(
    changed: str, sentence: str, checkout: Path
) -> None:
    file = checkout / "src" / "warlab" / "methods" / "label_smoothing.py"
    plain, rich = "    share: float = 0.1  # of the uniform distribution\n", snippet(PAGE, "A line such as")
    assert file.read_text().count(plain) == 1
    imports = "from torch import nn\n"
    text = (
        file.read_text()
        .replace(plain, rich)
        .replace(imports, f"{imports}\nfrom warlab.common.setting import setting\n")
    )
    file.write_text(text)
    scale = checkout / "my_scale.yaml"
    scale.write_text(scale.read_text().replace("[label_smoothing]", f"[label_smoothing+{changed}]"))
    code = (
        "import sys; from pathlib import Path; from warlab.config.study import load_study\n"
        f"load_study({{'scale': {str(scale)!r}}}, Path({str(checkout)!r}))"
    )
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0 and sentence in done.stderr.splitlines()[-1]


def test_every_file_that_the_page_names_exists() -> None:
    for name in re.findall(r"`(\w+\.py)`", PAGE):
        assert (ROOT / "src" / "warlab" / "methods" / name).exists(), name
