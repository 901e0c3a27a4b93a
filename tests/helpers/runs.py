"""Small real runs for the tests: files as the workflow writes them, and a process that trains on them."""

import json
import subprocess
import sys
import time
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tests.conftest import ROOT, blobs
from tests.helpers.artefacts import described
from tests.helpers.studies import study_of
from warlab import methods
from warlab.artefacts.ground_cost import matrix_text
from warlab.artefacts.labelled_data import PreparedData
from warlab.artefacts.run_config import RunConfig
from warlab.common.files import digest, read_arrays, write_arrays, write_text
from warlab.config.study import Study
from warlab.engine.build import RunFiles, build_trainer
from warlab.engine.checkpoint import CheckpointFolder
from warlab.engine.run import train_run
from warlab.engine.train import TIMES, Trainer
from warlab.noise import make_noise
from warlab.noise.kinds.base import NoiseRequest

CLASSES = 4
NAMES = [f"class {k}" for k in range(CLASSES)]


@cache
def study(epochs: int = 4) -> Study:
    """Load the smoke scale with its schedules shrunk to this many epochs."""
    smoke = study_of("smoke")
    training = {"fashion_mnist": {**smoke.scale["training"]["fashion_mnist"], "epochs": epochs}}
    return replace(smoke, scale={**smoke.scale, "training": training})


def method_ids() -> list[str]:
    """Return every method and variant; those that differ only in the ground cost once, because all get the same
    cost here."""
    distinct = {}
    for name in [*study().numbers.variants, *methods.names()]:
        settings = {**study().settings.method(name, "fashion_mnist"), "cost": ""}
        distinct[study().numbers.method_file(name), json.dumps(settings, sort_keys=True)] = name
    return sorted(distinct.values())


def write_files(folder: Path, n: int = 64, noise: str = "clean", clean: np.ndarray | None = None) -> RunFiles:
    """Write a learnable dataset with noisy labels and a cost; `clean` replaces the clean labels after the noise."""
    x, y = blobs(n, CLASSES)
    test_x, test_y = blobs(40, CLASSES, seed=1)
    noisy = make_noise(NoiseRequest("blobs", noise, 0, NAMES, "stand-in"), {"train_y": y}, {})
    if clean is not None:
        y = clean
        noisy = replace(noisy, manifest=replace(noisy.manifest, clean_sha256=digest(clean)))
    data = folder / "data.npz"
    arrays = {"train_x": x, "train_y": y, "test_x": test_x, "test_y": test_y}
    PreparedData(described(NAMES), arrays).save(data)
    noisy.save(folder / "noise.npz")
    cost = 0.5 + 0.4 * np.cos(np.subtract.outer(range(CLASSES), range(CLASSES)))
    np.fill_diagonal(cost, 0)
    write_text(folder / "cost.csv", matrix_text(np.abs(cost), NAMES))
    write_arrays(folder / "predictions.npz", probabilities=0.05 + 0.8 * np.eye(CLASSES)[noisy.labels])
    return RunFiles(data, folder / "noise.npz", folder / "cost.csv", folder / "predictions.npz")


def resolved(method_id: str, epochs: int = 3, batch_size: int = 16, **settings: Any) -> dict[str, Any]:
    """Return a run with the hyperparameters of the smoke scale, its schedules shrunk to `epochs`."""
    file = study().numbers.method_file(method_id)
    own = {**study(epochs).settings.method(method_id, "fashion_mnist"), **settings}
    return {
        "dataset": "blobs",
        "noise": "clean",
        "net": {"name": "cnn9", "settings": {"width": 0.0625, "dropout": 0.1, "head_dropout": 0.0}},
        "method": {"id": method_id, "file": file, "settings": own},
        "training": {
            "epochs": epochs,
            "batch_size": batch_size,
            "optimiser": "adam",
            "lr": 0.005,
            "drops": [epochs],
            "weight_decay": 0.0,
            "momentum": 0.0,
        },
        "seed": 0,
    }


def run_training(run: dict[str, Any], files: RunFiles, out: Path) -> None:
    """Train in this process."""
    train_run(RunConfig.from_dict(run), {}, files, out, 1)


def make_trainer(run: dict[str, Any], files: RunFiles, folder: Path) -> Trainer:
    """Build the trainer of a run whose checkpoints are in this folder."""
    return build_trainer(RunConfig.from_dict(run), files.read(), CheckpointFolder(folder, "id"))


def start(run: dict[str, Any], files: RunFiles, out: Path) -> subprocess.Popen[str]:
    """Train in a process of its own, as a job of the workflow does."""
    given = {"run": run, "files": {k: str(v) for k, v in vars(files).items() if v}, "out": str(out)}
    command = [sys.executable, "-m", "tests.helpers.train_process", json.dumps(given)]
    return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)


def weights(out: Path) -> list[dict[str, torch.Tensor]]:
    return torch.load(out / "weights.pt", weights_only=True)


def metrics(out: Path, *without: str) -> list[str]:
    """Return metrics.csv without the columns of time, which may differ between two equal runs."""
    rows = [line.split(",") for line in (out / "metrics.csv").read_text().splitlines()]
    keep = [i for i, name in enumerate(rows[0]) if name not in (*TIMES, *without)]
    return [",".join(row[i] for i in keep) for row in rows]


def assert_same(one: Path, two: Path, *without: str) -> None:
    assert metrics(one, *without) == metrics(two, *without)
    for a, b in zip(weights(one), weights(two), strict=True):
        assert a.keys() == b.keys() and all(torch.equal(a[k], b[k]) for k in a)
    kept = [read_arrays(out / "test_predictions.npz") for out in (one, two)]
    assert all(np.array_equal(kept[0][name], kept[1][name]) for name in ("predictions", "epochs"))
    noted = [read_arrays(out / "audit.npz") for out in (one, two)]
    assert all(np.array_equal(noted[0][name], noted[1][name], equal_nan=True) for name in noted[0])


def wait_for(file: Path, text: str, seconds: float = 600) -> None:
    """Wait until a file contains this text."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if file.exists() and text in file.read_text():
            return
        time.sleep(0.02)
    raise AssertionError(f"{text!r} did not appear in {file}")
