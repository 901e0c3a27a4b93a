"""The tutorials run unchanged and become pages with their outputs."""

import re
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import ROOT
from tests.helpers.checkout import link_repository, output_of
from tests.helpers.scripts import load

FOLDER = ROOT / "docs" / "tutorials"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    return load("tools/tutorials.py")


def built(name: str, folder: Path, **environment: str) -> str:
    """Return the page of a tutorial, made in a process of its own in this folder."""
    shutil.copy(FOLDER / f"{name}.py", folder)
    link_repository(folder)
    output_of([sys.executable, str(ROOT / "tools" / "tutorials.py"), str(folder)], folder, **environment)
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
    last = [float(number) for number in re.findall(r"mean of the last five epochs ([\d.]+) %", page)]
    gap = re.search(r"WAR minus cross entropy: ([+-][\d.]+) points \(([+-][\d.]+) to ([+-][\d.]+)\)", page)
    assert len(last) == 2 and min(last) > 60 and gap
    assert float(gap[1]) == pytest.approx(last[1] - last[0], abs=0.11) and float(gap[2]) < float(gap[1]) < float(gap[3])


def test_a_corrected_folder_trains_a_better_network(tmp_path: Path) -> None:
    page = built("fix_labels", tmp_path)
    gain = re.search(r"% *: ([+-][\d.]+) ± ([\d.]+) points", page)
    assert gain and float(gain[1]) > 1
    assert "1000 images in all" in page and len(re.findall(r"seed \d: \d+ of \d+ wrong labels", page)) == 3


def auroc(page: str) -> float:
    (line,) = [line for line in page.splitlines() if line.startswith("combined ")]
    return float(line.split()[1])


def test_wrong_labels_without_a_network(tmp_path: Path) -> None:
    """No address answers and no package manager is found: the page says so and continues with Fashion-MNIST."""
    offline = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9")
    page = built("wrong_labels", tmp_path, PATH=str(tmp_path), **offline, PIP_NO_INDEX="1", PIP_FIND_LINKS="")
    assert "because CIFAR-10N cannot be had here" in page and (tmp_path / "wrong_labels_1.png").exists()
    assert auroc(page) > 0.75


@pytest.mark.slow
def test_wrong_labels_of_people(tmp_path: Path) -> None:
    if (ROOT / "data" / "cifar10" / "real").is_dir():
        (tmp_path / "data").symlink_to(ROOT / "data")
    page = built("wrong_labels", tmp_path)
    assert "CIFAR-10N: labels given by people" in page
    assert auroc(page) > 0.65
