"""The tutorials run as they stand, and become pages with their outputs."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import ROOT

FOLDER = ROOT / "docs" / "tutorials"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tutorials", ROOT / "tools" / "tutorials.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules["tutorials"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def built(name: str, folder: Path, **environment: str) -> str:
    """The page of a tutorial, made in a process of its own in this folder."""
    shutil.copy(FOLDER / f"{name}.py", folder)
    call = [sys.executable, str(ROOT / "tools" / "tutorials.py"), str(folder)]
    path = os.environ | {"PYTHONPATH": str(ROOT / "src")} | environment
    done = subprocess.run(call, cwd=folder, env=path, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    return (folder / f"{name}.md").read_text()


def test_cells_outputs_and_figures_become_a_page(tool: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "short.py").write_text(
        "# %% [markdown]\n# # Title\n#\n# Text.\n\n# %%\nx = 2\nprint(x + 1)\n\n# %%\n"
        "import matplotlib.pyplot as plt\nplt.plot([x, 1])\n"
    )
    page = tool.build(tmp_path / "short.py", tmp_path).read_text()
    assert page.startswith("# Title\n\nText.\n\n```python\nx = 2\nprint(x + 1)\n```\n\n```text\n3\n```\n")
    assert "(short_1.png)" in page and (tmp_path / "short_1.png").stat().st_size > 1000
    tool.build(tmp_path / "short.py", tmp_path)
    assert [path.name for path in tmp_path.glob("*.png")] == ["short_1.png"]


def test_a_cell_that_fails_stops_the_build(tool: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text("# %%\nunknown\n")
    with pytest.raises(NameError):
        tool.build(tmp_path / "wrong.py", tmp_path)


def test_war_on_your_own_images(tmp_path: Path) -> None:
    page = built("own_images", tmp_path)
    assert "20% of the labels are wrong" in page and (tmp_path / "own_images_1.png").exists()
    last = [float(number) for number in re.findall(r"mean of the last five epochs ([\d.]+)%", page)]
    assert len(last) == 2 and min(last) > 60


def found_wrong_labels(page: str) -> float:
    (line,) = [line for line in page.splitlines() if line.startswith("combined ")]
    return float(line.split()[1])


def test_wrong_labels_without_a_network(tmp_path: Path) -> None:
    """No address answers, no package manager is found: the page says so and goes on with Fashion-MNIST."""
    offline = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9")
    page = built("wrong_labels", tmp_path, PATH=str(tmp_path), **offline, PIP_NO_INDEX="1", PIP_FIND_LINKS="")
    assert "because CIFAR-10N cannot be had here" in page and (tmp_path / "wrong_labels_1.png").exists()
    assert found_wrong_labels(page) > 0.75


@pytest.mark.slow
def test_wrong_labels_of_people(tmp_path: Path) -> None:
    if (ROOT / "data" / "cifar10" / "real").is_dir():
        (tmp_path / "data").symlink_to(ROOT / "data")
    page = built("wrong_labels", tmp_path)
    assert "CIFAR-10N: labels given by people" in page
    assert found_wrong_labels(page) > 0.65
