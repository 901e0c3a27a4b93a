"""The processor time that the audit of labels adds to an epoch.

    python benchmarks/audit_cost.py            the demo's network and images, CCE (the cheapest step) and WAR

Two trainings on the embedded Fashion-MNIST alternate epoch by epoch, one with and one without the audit. The fastest
epochs of both are compared, because other work on the machine only makes epochs slower. The time inside the audit is
also measured directly, as a share of all epochs.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from warlab.artefacts.run_config import RunConfig
from warlab.config.study import Study, load_study
from warlab.data import get
from warlab.data.fetch import fetch
from warlab.engine.build import RunFiles, build_trainer
from warlab.engine.checkpoint import CheckpointFolder
from warlab.engine.train import Recorder, Trainer
from warlab.ids import RunId
from warlab.methods.base import LOGITS, Batch, Log, Step
from warlab.noise import make_noise
from warlab.noise.kinds.base import NoiseRequest
from warlab.ot.costs import make_cost
from warlab.ot.costs.base import CostInputs

ROOT = Path(__file__).parents[1]


class Silent(Recorder):
    """A recorder that records nothing."""

    def start_step(self) -> None:
        pass

    def end_step(self, batch: Batch, log: Log) -> None:
        log.pop(LOGITS, None)


class Timed(Recorder):
    """Adds up the processor time of recording."""

    seconds = 0.0

    def end_step(self, batch: Batch, log: Log) -> None:
        started = time.process_time()
        super().end_step(batch, log)
        self.seconds += time.process_time() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    study = load_study({"scale": "demo"}, ROOT)
    with tempfile.TemporaryDirectory() as folder:
        files = write_files(Path(folder), study)
        for method in ("cce", "war_w2v"):
            report(method, compare(study, method, files, Path(folder), options.epochs))


def write_files(folder: Path, study: Study) -> RunFiles:
    dataset = get("fashion_mnist")
    fetch(dataset, folder / "raw", "embedded")
    data = dataset.prepare(folder / "raw", vars(study.settings.data_spec("fashion_mnist")))
    data.save(folder / "data.npz")
    names = data.about.class_names
    make_noise(NoiseRequest("fashion_mnist", "asym-40", 0, names, "real"), data.arrays, {}).save(folder / "noise.npz")
    make_cost("w2v", CostInputs(names, data.about.words), {}).save(folder / "cost.csv")
    return RunFiles(folder / "data.npz", folder / "noise.npz", folder / "cost.csv")


def compare(study: Study, method: str, files: RunFiles, folder: Path, epochs: int) -> dict[str, Any]:
    run: dict[str, Any] = dict(study.settings.run(RunId("fashion_mnist", "asym-40", "cnn9", method, 0)).to_dict())
    trainers = {name: trainer(run, files, folder) for name in ("without", "with")}
    trainers["without"].recorder = Silent([], 1, 2)
    audited = trainers["with"]
    audited.recorder = timed = Timed(audited.models, len(audited.data), 10)  # the original one is no longer used
    times: dict[str, list[float]] = {name: [] for name in trainers}
    for number in range(epochs + 1):
        for name, one in trainers.items():
            spent = seconds(lambda one=one: epoch(one, run["training"]["epochs"]))  # type: ignore[misc]
            if number > 0:  # the first round warms up
                times[name].append(spent)
            else:
                timed.seconds = 0.0
    return {**times, "inside": timed.seconds / sum(times["with"])}


def trainer(run: dict[str, Any], files: RunFiles, folder: Path) -> Trainer:
    return build_trainer(RunConfig.from_dict(run), files.read(), CheckpointFolder(folder, "benchmark"))


def epoch(trainer: Trainer, epochs: int) -> None:
    """All steps of an epoch after any warm-up, without the evaluation, which would hide the cost."""
    for number, index in enumerate(trainer.data.epoch(epochs - 1)):
        trainer._step(Step(epochs - 1, epochs, number), index)


def seconds(task: Callable[[], None]) -> float:
    started = time.process_time()
    task()
    return time.process_time() - started


def report(method: str, found: dict[str, Any]) -> None:
    without, with_audit = min(found["without"]), min(found["with"])
    times = f"epoch {without:.2f} s without, {with_audit:.2f} s with the audit: {with_audit / without - 1:+.2%}"
    print(f"{method:8} {times};  inside the audit {found['inside']:.2%} of an epoch")


if __name__ == "__main__":
    main()
