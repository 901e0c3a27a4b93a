"""One run from files to files: read data, noise and cost, train, write metrics.csv, weights.pt and result.json."""

import csv
import io
import json
import logging
from pathlib import Path

import torch

from warlab.artefacts.run_config import RunConfig
from warlab.artefacts.run_result import RunResult
from warlab.common.files import digest, write_arrays, write_atomic, write_text
from warlab.common.progress import duration, seconds_per_epoch
from warlab.engine.build import build_trainer
from warlab.engine.checkpoint import CheckpointFolder, StopRequest, remember
from warlab.engine.device import device_settings
from warlab.engine.inputs import RunFiles
from warlab.engine.lock import only_writer
from warlab.engine.provenance import provenance
from warlab.engine.train import TIMES, Row, Trainer, summary, test_predictions
from warlab.engine.validation import of_all_samples

logger = logging.getLogger(__name__)
OUTPUTS = ("metrics.csv", "weights.pt", "test_predictions.npz", "audit.npz", "result.json")


def train_run(run: RunConfig, code: str, files: RunFiles, out: Path, threads: int) -> None:
    """Train `run` into the folder `out`, or continue it; `code` is the fingerprint of the modules it depends on."""
    checksums = files.checksums()
    sources = {"code": code, **checksums}
    run_id = digest(json.dumps([run.to_dict(), code, checksums], sort_keys=True).encode())
    checkpoints = CheckpointFolder(out, run_id)
    with only_writer(out, checkpoints.path.name), StopRequest() as stop:
        if _finished(out, run_id):
            logger.info("another process has finished this run meanwhile; its result stands")
            return
        device_settings(threads, run.device)
        remember(checkpoints.path, {"run": digest(json.dumps(run.to_dict(), sort_keys=True).encode()), **sources})
        inputs = files.read()
        data, total = inputs.data.about.data, len(inputs.noise.labels)
        live = EpochLines(run.training["epochs"], checkpoints.path / "metrics.csv")
        trainer = build_trainer(run, inputs, checkpoints, live)
        del inputs  # what the trainer needs of it, it has
        rows = trainer.fit(stop)
        _write_arrays(out, run, trainer, total)
        source = provenance(sources, *(sum(row[name] for row in rows) for name in TIMES))
        source["machines"] = checkpoints.machines  # more than one if the run went on elsewhere
        RunResult(run_id, run, data, summary(rows), source).save(out / "result.json")
        checkpoints.remove()


def _finished(out: Path, run_id: str) -> bool:
    complete = all((out / name).exists() for name in OUTPUTS)
    return complete and RunResult.load(out / "result.json").id == run_id


def _write_arrays(out: Path, run: RunConfig, trainer: Trainer, total: int) -> None:
    write_text(out / "metrics.csv", to_csv(trainer.rows))
    weights = [model.state_dict() for model in trainer.models]
    write_atomic(out / "weights.pt", lambda file: torch.save(weights, file))
    write_arrays(out / "test_predictions.npz", **test_predictions(trainer.evaluate.recent, len(trainer.rows)))
    write_arrays(out / "audit.npz", **of_all_samples(trainer.listener.record.means(), run, total).arrays())


def to_csv(rows: list[Row]) -> str:
    """All rows under the union of their columns, since a method may begin to log later than at the start."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue()


class EpochLines:
    """What a person sees of a run: a line per epoch with an estimate of the rest, and a live metrics.csv."""

    def __init__(self, epochs: int, live: Path) -> None:
        self.epochs, self.live = epochs, live

    def __call__(self, rows: list[Row]) -> None:
        write_text(self.live, to_csv(rows))
        last = rows[-1]
        remaining = duration((self.epochs - len(rows)) * seconds_per_epoch([row["seconds"] for row in rows]))
        test = f"test {last['test_accuracy']:.2f} %" if "test_accuracy" in last else "not tested"
        logger.info(
            f"epoch {len(rows)}/{self.epochs}  loss {last['loss']:.4f}  {test}  "
            f"{last['seconds']:.1f} s/epoch  remaining {remaining}"
        )
