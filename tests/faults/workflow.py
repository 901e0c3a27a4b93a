"""A copy of the repository with a scale of a few trainings, for faults that happen to whole workflows."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from tests.helpers.runs import assert_same
from tests.workflow.test_workflow import copy_tree

RUN = Path("results/faults/runs/fashion_mnist/asym-40/cnn9")
TABLE = "results/faults/tables/ar_war_variants.csv"


def scale(epochs: int, methods: list[str]) -> dict[str, Any]:
    """One table of the smoke scale."""
    table = {"datasets": ["fashion_mnist"], "noises": ["asym-40"], "methods": methods}
    return {
        "description": "a table for the tests of faults",
        "seeds": 1,
        "threads": 1,
        "datasets": {"fashion_mnist": {"source": "stand_in", "train": 300, "test": 200, "pool": 2}},
        "training": {"fashion_mnist": {"epochs": epochs, "batch_size": 25}},
        "nets": {"cnn9": {"width": 0.125, "dropout": 0.0, "head_dropout": 0.0}},
        "experiments": {"ar_war_variants": table},
    }


def project(folder: Path, epochs: int = 4, methods: tuple[str, ...] = ("war_w2v",)) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    copy_tree(folder)
    (folder / "config" / "scales" / "faults.yaml").write_text(yaml.safe_dump(scale(epochs, list(methods))))
    return folder


def begin(folder: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    """snakemake in a process group of its own, its words in snakemake.log."""
    command = [sys.executable, "-m", "snakemake", "--config", "scale=faults", *arguments]
    with (folder / "snakemake.log").open("a") as log:
        return subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(folder / "src"), **environment},
            stdout=log,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )


def call(folder: Path, *arguments: str, seconds: float = 600, **environment: str) -> str:
    """What a call that must succeed said."""
    before = len(said(folder))
    process = begin(folder, *arguments, **environment)
    assert process.wait(seconds) == 0, said(folder)[-4000:]
    return said(folder)[before:]


def said(folder: Path) -> str:
    log = folder / "snakemake.log"
    return log.read_text() if log.exists() else ""


def planned(folder: Path, *arguments: str) -> dict[str, int]:
    text = call(folder, "-n", *arguments)
    return {name: int(n) for name, n in re.findall(r"^(\w+) +(\d+)$", text, re.MULTILINE)}


def training_log(folder: Path, method: str) -> Path:
    """What was said in all tries of a run; Snakemake empties its own log before each."""
    return folder / RUN / method / "seed0" / "history.log"


def trainer_of(folder: Path, method: str) -> int:
    """The process that trains a run, by its lock."""
    return int((folder / RUN / method / "seed0" / ".lock").read_text().split()[1])


def assert_same_results(one: Path, two: Path, *methods: str) -> None:
    for method in methods:
        assert_same(one / RUN / method / "seed0", two / RUN / method / "seed0")
    assert (one / TABLE).read_text() == (two / TABLE).read_text()
