"""A checkout with a scale of a few trainings, for faults that happen to whole workflows."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from tests.helpers.checkout import PATIENCE, copy_repository, environment, planned_jobs
from tests.helpers.runs import assert_same
from warlab.common.files import read_json

RUN = Path("results/faults/runs/fashion_mnist/asym-40/cnn9")
TABLE = "results/faults/tables/ar_war_variants.csv"
METHODS = ("cce", "war_w2v")  # that `project` trains


def scale(epochs: int, methods: list[str]) -> dict[str, Any]:
    """Return one table of the smoke scale."""
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
    copy_repository(folder)
    (folder / "config" / "scales" / "faults.yaml").write_text(yaml.safe_dump(scale(epochs, list(methods))))
    return folder


def copy_without(study: Path, folder: Path, *methods: str) -> Path:
    """Copy a finished study without its table and the runs of these methods, which are then trained again."""
    shutil.copytree(study, folder, dirs_exist_ok=True)
    for method in methods:
        shutil.rmtree(folder / RUN / method)
    (folder / TABLE).unlink()
    return folder


def start(folder: Path, *arguments: str, **variables: str) -> subprocess.Popen[str]:
    """Start snakemake in its own process group; what it prints goes to snakemake.log."""
    command = [sys.executable, "-m", "snakemake", "--config", "scale=faults", *arguments]
    with (folder / "snakemake.log").open("a") as log:
        return subprocess.Popen(
            command,
            cwd=folder,
            env=environment(folder, **variables),
            stdout=log,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )


def finish(snakemake: subprocess.Popen[str], folder: Path, seconds: float = PATIENCE) -> None:
    """Wait for a snakemake that must succeed."""
    assert snakemake.wait(seconds) == 0, log_of(folder)[-4000:]


def call(folder: Path, *arguments: str, seconds: float = PATIENCE, **variables: str) -> str:
    """Run snakemake, which must succeed, and return what it prints."""
    before = len(log_of(folder))
    finish(start(folder, *arguments, **variables), folder, seconds)
    return log_of(folder)[before:]


def log_of(folder: Path) -> str:
    log = folder / "snakemake.log"
    return log.read_text() if log.exists() else ""


def planned(folder: Path, *arguments: str) -> dict[str, int]:
    return planned_jobs(call(folder, "-n", *arguments))


def training_log(folder: Path, method: str) -> Path:
    """Return the log of all attempts of a run; Snakemake empties its own log before each."""
    return folder / RUN / method / "seed0" / "history.log"


def trainer_of(folder: Path, method: str) -> int:
    """Return the process that trains a run, from its lock."""
    return int((folder / RUN / method / "seed0" / ".lock").read_text().split()[1])


def provenance(folder: Path, method: str) -> dict[str, Any]:
    return read_json(folder / RUN / method / "seed0" / "result.json")["provenance"]


def assert_trained_once(log: str, epochs: int) -> None:
    assert [log.count(f"epoch {k}/{epochs} ") for k in range(1, epochs + 1)] == [1] * epochs


def assert_same_results(one: Path, two: Path, *methods: str) -> None:
    for method in methods:
        assert_same(one / RUN / method / "seed0", two / RUN / method / "seed0")
    assert (one / TABLE).read_text() == (two / TABLE).read_text()
