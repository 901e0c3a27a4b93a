"""Follow the examples of docs/extending.md literally: each touches exactly the files that CONTRIBUTING.md names, and
the workflow trains with the new dataset, noise, network and ground cost."""

import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest
import torch
import yaml
from torch import nn

from tests.conftest import ROOT
from tests.helpers.checkout import changed_files, contents, copy_repository, output_of, planned_jobs, run
from warlab import nets
from warlab.common.files import read_json
from warlab.errors import WarlabError
from warlab.methods.base import features

PAGE = (ROOT / "docs" / "extending.md").read_text()
TABLE = (ROOT / "CONTRIBUTING.md").read_text()
NUMBERS = "config/hyperparameters.yaml"


@dataclass(frozen=True)
class Example:
    """A section of the page; `section` of hyperparameters.yaml gets the lines of its YAML block."""

    kind: str
    name: str
    section: str = ""

    @property
    def text(self) -> str:
        return PAGE[PAGE.index(f"## A {self.kind}\n") :].split("\n## ")[0]

    def block(self, language: str) -> str:
        match = re.search(rf"```{language}\n(.*?)```", self.text, re.DOTALL)
        assert match is not None
        return match[1]

    @property
    def file(self) -> str:
        """The file that the page says to write."""
        match = re.search(r"`(src/\S+\.py)`:\n", self.text)
        assert match is not None
        return match[1]

    @property
    def touched(self) -> set[str]:
        """The files that the row of CONTRIBUTING.md names, apart from the scale."""
        (row,) = [line for line in TABLE.splitlines() if line.startswith(f"| a {self.kind} |")]
        paths = re.findall(r"`((?:src|config|workflow|rules)/[^`]+)`", row.split("|")[2])
        return {path.replace("<name>", self.name) for path in paths}

    def follow(self, folder: Path) -> None:
        (folder / self.file).write_text(self.block("python"))
        if NUMBERS in self.touched:
            numbers, line = folder / NUMBERS, f"\n{self.section}:\n"
            text = numbers.read_text()
            assert text.count(line) == 1
            numbers.write_text(text.replace(line, line + self.block("yaml")))


EXAMPLES = [
    Example("dataset", "stripes", "training"),
    Example("noise", "first"),
    Example("network", "tiny"),
    Example("ground cost", "circular", "costs"),
]
OURS = {"datasets": ["fashion_mnist"], "noises": ["first-30"]}
SCALE = {
    "description": "my own dataset, noise, network and ground cost",
    "seeds": 1,
    "threads": 1,
    "datasets": {
        "stripes": {"source": "stand_in"},
        "fashion_mnist": {"source": "stand_in", "train": 60, "test": 60, "pool": 2},
    },
    "training": {name: {"epochs": 1, "batch_size": 20} for name in ("stripes", "fashion_mnist")},
    "nets": {"cnn6": {"width": 0.125}},
    "experiments": {
        "main_benchmark": {
            "datasets": ["stripes"],
            "noises": ["asym-40"],
            "nets": ["tiny"],
            "methods": ["cce"],
            "also": [{**OURS, "nets": ["cnn6"], "methods": ["war+cost=circular"]}],
        }
    },
}
RUNS = ("stripes/asym-40/tiny/cce/seed0", "fashion_mnist/first-30/cnn6/war+cost=circular/seed0")
SNAKEMAKE = "snakemake --cores 1 --config scale=my_scale.yaml"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository in which all examples are followed, each by the files of its row."""
    folder = copy_repository(tmp_path_factory.mktemp("checkout"))
    for example in EXAMPLES:
        before = contents(folder)
        example.follow(folder)
        assert changed_files(before, contents(folder)) == example.touched, example.kind
    (folder / "my_scale.yaml").write_text(yaml.safe_dump(SCALE))
    return folder


@pytest.fixture(scope="module")
def trained(checkout: Path) -> Path:
    output_of(f"{SNAKEMAKE} -- {' '.join(f'results/my_scale/runs/{name}/result.json' for name in RUNS)}", checkout)
    return checkout


def test_the_examples_of_the_page_are_trained(trained: Path) -> None:
    results = trained / "results" / "my_scale"
    for name in RUNS:
        assert read_json(results / "runs" / name / "result.json")["data"] == "stand-in"
        dataset, noise, *_ = name.split("/")
        assert read_json(results / "noise" / dataset / noise / "seed0.json")["realised_rate"] > 0
    verified = read_json(results / "costs" / "fashion_mnist" / "circular" / "verified_lam0.05_iterations20.json")
    assert verified["passed"] and len(verified["checks"]) > 5


SUBFOLDER = {"dataset": "datasets", "noise": "noises", "network": "nets", "ground cost": "costs"}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a scale and the examples of the page as plug-ins, outside of the repository."""
    folder = tmp_path_factory.mktemp("study")
    numbers = dict[str, dict]()
    for example in EXAMPLES:
        file = folder / "my_parts" / SUBFOLDER[example.kind] / f"{example.name}.py"
        file.parent.mkdir(parents=True)
        file.write_text(example.block("python"))
        if example.section:
            numbers[example.section] = yaml.safe_load(example.block("yaml"))
    (folder / "my_parts" / "hyperparameters.yaml").write_text(yaml.safe_dump(numbers))
    (folder / "my_scale.yaml").write_text(yaml.safe_dump(SCALE))
    return folder


PLUGGED = f"snakemake -s {ROOT}/Snakefile --cores 1 --config scale=my_scale.yaml plugins=my_parts"


def test_the_same_examples_outside_of_the_repository_train_the_same_bits(trained: Path, study: Path) -> None:
    targets = [f"results/my_scale/runs/{name}/metrics.csv" for name in RUNS]
    output_of(f"{PLUGGED} -- {' '.join(targets)}", study)
    for target in targets:
        ours, fork = (pd.read_csv(folder / target) for folder in (study, trained))
        assert ours["loss"].tolist() == fork["loss"].tolist() and len(ours) == 1
    site = install(study / "my_parts", study / "site", "my_package.parts")
    installed = planned_jobs(
        output_of(f"{PLUGGED.rpartition(' ')[0]} -n -- {' '.join(targets)}", study, PYTHONPATH=site)
    )
    assert "train" not in installed, "a package with the same files changes nothing"
    done = run(f"{PLUGGED} -n", study, PYTHONPATH=site)
    assert done.returncode != 0 and "has the name of" in done.stdout + done.stderr
    tiny = study / "my_parts" / "nets" / "tiny.py"
    tiny.write_text(tiny.read_text().replace("8, 3)", "9, 3)").replace("Linear(8", "Linear(9") + "# wider\n")
    assert planned_jobs(output_of(f"{PLUGGED} -n -- {' '.join(targets)}", study))["train"] == 1


def test_the_examples_pass_the_contract_tests_and_a_wrong_figure_does_not(study: Path, tmp_path: Path) -> None:
    """With the page's figure, and that figure with a need that does not exist."""
    parts = shutil.copytree(study / "my_parts", tmp_path / "my_parts")
    figure = parts / "figures" / "forgetting.py"
    figure.parent.mkdir()
    figure.write_text(Example("figure", "forgetting").block("python"))
    with_config(parts / "nets" / "tiny.py")
    said = output_of(f"{sys.executable} -m warlab check-plugin my_parts", tmp_path)
    assert all(f"{file.relative_to(parts)}: can be used" in said for file in parts.glob("*/*.py"))
    tested = re.search(r"contract tests of tiny, stripes, first, forgetting: (\d+) passed|contract tests of .*", said)
    assert tested and tested[1] == "5", said  # no test whose name has the word "first"
    figure.write_text(figure.read_text().replace('NEEDS = ("runs",)', 'NEEDS = ("rums",)'))
    done = run(f"{sys.executable} -m warlab check-plugin my_parts", tmp_path)
    assert done.returncode == 1 and re.search(r"^FAILED .*\[forgetting\] - .*rums", done.stdout, re.MULTILINE)


def with_config(net: Path) -> None:
    """Give the page's network a hyperparameter, whose value only its `Config` has."""
    text = net.read_text().replace("classes: int) ->", "classes: int, size: int) ->").replace("8, 3)", "size, 3)")
    config = "\n\n@dataclass\nclass Config:\n    size: int = 4\n\n\nclass Net"
    text = text.replace("Linear(8", "Linear(size").replace("\n\nclass Net", config)
    net.write_text(text.replace("from torch import", "from dataclasses import dataclass\n\nfrom torch import", 1))


def test_what_stops_a_plug_in_before_the_contract_tests_is_one_sentence(study: Path, tmp_path: Path) -> None:
    parts = shutil.copytree(study / "my_parts", tmp_path / "my_parts")
    numbers, noise = parts / "hyperparameters.yaml", parts / "noises" / "first.py"
    call, text = f"{sys.executable} -m warlab check-plugin my_parts", numbers.read_text()
    for file, changed, expected in (
        (numbers, text.replace("stripes:", "strips:"), "datasets/stripes.py has no entry under `training:` in"),
        (numbers, re.sub(r"(epochs:\n.*\n +value: ).*", r"\1ten", text), "training.stripes.epochs is 'ten'"),
        (noise, "import nampy\n", "first.py, line 1 cannot be imported (ModuleNotFoundError: No module named 'nampy')"),
    ):
        before = file.read_text()
        file.write_text(changed)
        assert changed != before
        done = run(call, tmp_path)
        said = [line for line in (done.stdout + done.stderr).splitlines() if "can be used" not in line]
        assert done.returncode == 1 and len(said) == 1 and expected in said[0], said
        file.write_text(before)


def install(parts: Path, site: Path, entry: str) -> str:
    """Make a package of plug-ins as pip installs it, and return the folder for PYTHONPATH."""
    shutil.copytree(parts, site.joinpath(*entry.split(".")))
    for folder in (site / "my_package", *(site / "my_package").rglob("*/")):
        (folder / "__init__.py").write_text("raise ImportError('is never imported')\n")
    described = site / "my_package-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text(f"[warlab.plugins]\nmine = {entry}\n")
    return str(site)


def test_an_entry_point_that_is_no_folder_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    site = install(tmp_path / "parts", tmp_path / "site", "my_package.parts")
    shutil.rmtree(tmp_path / "site" / "my_package" / "parts")
    done = run(f"{sys.executable} -m warlab plan", tmp_path, PYTHONPATH=site)
    assert done.returncode == 1 and "my_package/parts is not a folder" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("method/mine.py", "in an unknown folder 'method'; did you mean 'methods'?"),
        ("nets/cnn9.py", "has the name of a file of warlab; rename it"),
        ("hyperparameters.yaml", "training.cifar10 is defined already; change it by `overrides`"),
    ],
)
def test_a_mistake_in_plug_ins_is_one_sentence(file: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "parts" / file).parent.mkdir(parents=True)
    (tmp_path / "parts" / file).write_text("training: {cifar10: {}}\n")
    (tmp_path / "my.yaml").write_text("plugins: parts\n")
    done = run(f"{sys.executable} -m warlab plan --configfile my.yaml", tmp_path)
    assert done.returncode == 1 and said in done.stderr and done.stderr.count("\n") == 1


def test_a_figure_that_needs_features_is_left_out_for_a_network_without_them(checkout: Path) -> None:
    benchmark = {**SCALE["experiments"]["main_benchmark"], "also": []}
    (checkout / "tiny.yaml").write_text(yaml.safe_dump({**SCALE, "experiments": {"main_benchmark": benchmark}}))
    jobs = planned_jobs(output_of("snakemake -n --config scale=tiny.yaml", checkout))
    assert jobs["figure"] > 3 and "activations" not in jobs


def test_a_network_without_features_or_with_lazy_layers_is_refused_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Lazy(nn.Module):
        def __init__(self, channels: int, classes: int) -> None:
            super().__init__()
            self.head = nn.LazyLinear(classes)

    with pytest.raises(WarlabError, match=r"give the network a method features\(x\)"):
        features(nn.Linear(3, 2), torch.zeros(1, 3))
    monkeypatch.setattr("warlab.nets.cnn2.Net", Lazy)
    with pytest.raises(WarlabError, match=r"Network cnn2 has lazy layers, .* give every layer its size"):
        nets.build("cnn2", 1, 10)
    assert nets.has_features("cnn9")
