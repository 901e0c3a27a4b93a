"""Follow docs/adding-a-method.md literally: its files, its command, and its method in the table."""

import re
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.conftest import ROOT
from tests.helpers.checkout import copy_repository, output_of, run
from tests.helpers.scripts import snippet

PAGE = (ROOT / "docs" / "adding-a-method.md").read_text()
METHOD = "src/warlab/methods/confidence_penalty.py"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the repository in which the page's first two steps are done: one file, and its name in a scale."""
    copy_repository(tmp_path)
    for file in (METHOD, "my_scale.yaml"):
        (tmp_path / file).write_text(snippet(PAGE, f"`{file}`:"))
    return tmp_path


def test_the_page_leads_to_a_row_in_the_table(checkout: Path) -> None:
    output_of(snippet(PAGE, "## 3. Run it"), checkout)
    folder = checkout / "results" / "my_scale" / "tables"
    table = pd.read_csv(folder / "main_benchmark.csv")
    row = table[(table["method"] == "confidence_penalty") & (table["metric"] == "test_accuracy")]
    assert len(row) == 1 and 0 < row["mean"].item() <= 100 and row["data"].item() == "stand-in"
    assert "| Confidence penalty |" in (folder / "main_benchmark.md").read_text()


def test_a_range_and_the_names_of_settings_are_checked_before_anything_runs(checkout: Path) -> None:
    """With the line of the page that adds a source and a range."""
    file, scale = checkout / METHOD, checkout / "my_scale.yaml"
    plain, rich = "    share: float = 0.1  # weight of the entropy\n", snippet(PAGE, "A line such as")
    imports = "from torch import nn\n"
    text = file.read_text()
    assert text.count(plain) == text.count(imports) == 1
    text = text.replace(plain, rich).replace(imports, f"{imports}\nfrom warlab.common.setting import setting\n")
    file.write_text(text)
    original = scale.read_text()
    for changed, sentence in {
        "share=2": "The method confidence_penalty+share=2: methods.confidence_penalty.share is 2; it must be less",
        "shar=0.2": "changes 'shar', which is not a setting of the method; did you mean 'share'?",
    }.items():
        scale.write_text(original.replace("[confidence_penalty]", f"[confidence_penalty+{changed}]"))
        load = (
            "from pathlib import Path; from warlab.config.study import load_study\n"
            f"load_study({{'scale': {str(scale)!r}}}, Path({str(checkout)!r}))"
        )
        done = run([sys.executable, "-c", load], checkout)
        assert done.returncode != 0 and sentence in done.stderr.splitlines()[-1]


def test_the_method_is_a_plug_in_and_passes_the_contract_tests(tmp_path: Path) -> None:
    """A file that is not a network stops the check before the tests."""
    parts = tmp_path / "my_parts"
    for file, text in (
        ("methods/confidence_penalty.py", snippet(PAGE, "## 1. The file")),
        ("nets/mine.py", "Nat = 1\n"),
    ):
        (parts / file).parent.mkdir(parents=True)
        (parts / file).write_text(text)
    call = f"{sys.executable} -m warlab check-plugin my_parts"
    done = run(call, tmp_path)
    assert done.returncode == 1 and "nets/mine.py: has no Net; see docs" in done.stdout and "passed" not in done.stdout
    (parts / "nets" / "mine.py").unlink()
    said = output_of(call, tmp_path)
    assert "methods/confidence_penalty.py: can be used" in said
    (tmp_path / "my.yaml").write_text("plugins: my_parts\n")
    explained = f"{sys.executable} -m warlab explain --configfile my.yaml"
    said_of = output_of(f"{explained} fashion_mnist/asym-40/cnn9/confidence_penalty/seed0", tmp_path)
    assert "plugins/methods/confidence_penalty.py: " in said_of
    assert int(re.findall(r"contract tests of confidence_penalty: (\d+) passed", said)[0]) > 5


def test_every_file_that_the_page_names_exists() -> None:
    for name in re.findall(r"`(\w+\.py)`", PAGE):
        assert (ROOT / "src" / "warlab" / "methods" / name).exists(), name
