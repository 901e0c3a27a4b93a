"""The examples of docs/extending.md done literally, each in a copy of the repository: exactly the files that
CONTRIBUTING.md names are touched, and the workflow runs with the new dataset, noise, network or cost."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
import yaml
from torch import nn

from tests.conftest import ROOT
from tests.project.test_adding_a_method import PARTS
from warlab import nets
from warlab.common.files import read_json
from warlab.errors import WarlabError
from warlab.methods.base import features

PAGE = (ROOT / "docs" / "extending.md").read_text()
TABLE = (ROOT / "CONTRIBUTING.md").read_text()
NUMBERS = "config/hyperparameters.yaml"
FASHION = {"source": "stand_in", "train": 60, "test": 60, "pool": 2}


@dataclass(frozen=True)
class Example:
    """A section of the page "extending.md"; `section` is that of hyperparameters.yaml which gets a few lines."""

    kind: str
    name: str
    section: str = ""
    dataset: str = "fashion_mnist"
    noise: str = "sym-40"
    net: str = "cnn6"
    method: str = "cce"

    @property
    def text(self) -> str:
        return PAGE[PAGE.index(f"## A {self.kind}\n") :].split("\n## ")[0]

    def block(self, language: str) -> str:
        match = re.search(rf"```{language}\n(.*?)```", self.text, re.DOTALL)
        assert match is not None
        return match[1]

    @property
    def file(self) -> str:
        """The file that the page tells to write."""
        match = re.search(r"`(src/\S+\.py)`:\n", self.text)
        assert match is not None
        return match[1]

    @property
    def scale(self) -> dict:
        return {
            "description": f"my own {self.kind}",
            "seeds": 1,
            "threads": 1,
            "datasets": {self.dataset: FASHION if self.dataset == "fashion_mnist" else {"source": "stand_in"}},
            "training": {self.dataset: {"epochs": 1, "batch_size": 20}},
            "nets": {"cnn6": {"width": 0.125}},
            "experiments": {
                "main_benchmark": {
                    "datasets": [self.dataset],
                    "noises": [self.noise],
                    "nets": [self.net],
                    "methods": [self.method],
                }
            },
        }


EXAMPLES = [
    Example("dataset", "stripes", "training", dataset="stripes", noise="asym-40"),
    Example("noise", "first", noise="first-30"),
    Example("network", "tiny", net="tiny"),
    Example("ground cost", "ordinal", "costs", method="war+cost=ordinal"),
]
EACH = pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.kind)


def touched(example: Example) -> set[str]:
    """What the row of CONTRIBUTING.md names, apart from the scale."""
    (row,) = [line for line in TABLE.splitlines() if line.startswith(f"| a {example.kind} |")]
    paths = re.findall(r"`((?:src|config|workflow|rules)/[^`]+)`", row.split("|")[2])
    return {path.replace("<name>", example.name) for path in paths}


def files_of(folder: Path) -> dict[str, bytes]:
    found = (path for part in PARTS for path in [folder / part, *(folder / part).rglob("*")])
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in found
        if path.is_file() and "__pycache__" not in path.parts
    }


def follow(example: Example, folder: Path) -> None:
    for part in PARTS:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copyfile
        copy(ROOT / part, folder / part)
    (folder / example.file).write_text(example.block("python"))
    if NUMBERS in touched(example):
        numbers, line = folder / NUMBERS, f"\n{example.section}:\n"
        text = numbers.read_text()
        assert text.count(line) == 1
        numbers.write_text(text.replace(line, line + example.block("yaml")))
    (folder / "my_scale.yaml").write_text(yaml.safe_dump(example.scale))


def call(folder: Path, *arguments: str) -> str:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(folder / "src")}
    command = ["snakemake", "--cores", "1", "--config", "scale=my_scale.yaml", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
    return done.stdout + done.stderr


@EACH
def test_the_example_of_the_page_trains_and_touches_what_the_row_names(example: Example, tmp_path: Path) -> None:
    before = files_of(ROOT)
    follow(example, tmp_path)
    after = files_of(tmp_path)
    assert {path for path in after if after[path] != before.get(path)} == touched(example)
    run = f"runs/{example.dataset}/{example.noise}/{example.net}/{example.method}/seed0"
    call(tmp_path, "--", f"results/my_scale/{run}/result.json")
    results = tmp_path / "results" / "my_scale"
    assert read_json(results / run / "result.json")["data"] == "stand-in"
    manifest = read_json(results / "noise" / example.dataset / example.noise / "seed0.json")
    assert manifest["realised_rate"] > 0
    if example.kind == "ground cost":
        verified = read_json(results / "costs" / example.dataset / "ordinal" / "verified.json")
        assert verified["passed"] and len(verified["checks"]) > 5
    if example.kind == "network":
        jobs = dict(re.findall(r"^(\w+) +(\d+)$", call(tmp_path, "-n"), re.MULTILINE))
        assert int(jobs["figure"]) > 3 and "activations" not in jobs, "a figure that needs features() is left out"


def test_a_network_without_features_or_with_lazy_layers_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
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
