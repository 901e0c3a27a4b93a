"""Train one run: read data, noise and cost, and write metrics.csv, weights.pt and result.json."""

import csv
import io
import logging
import os
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path

import torch

from warlab.artefacts.run_config import RunConfig
from warlab.artefacts.run_identity import RunIdentity, compare
from warlab.artefacts.run_result import OUTPUTS, RunResult
from warlab.common.curves import Curves, curves_of
from warlab.common.files import read_json, write_arrays, write_atomic, write_json, write_text
from warlab.common.progress import duration, seconds_per_epoch
from warlab.engine.build import RunFiles, add_held_out, build_trainer
from warlab.engine.checkpoint import CheckpointFolder, StopRequest
from warlab.engine.device import device_settings
from warlab.engine.lock import only_writer
from warlab.engine.provenance import provenance
from warlab.engine.train import TIMES, Row, Trainer, summary, test_predictions

logger = logging.getLogger(__name__)
IDENTITY = "identity.json"


def train_run(
    run: RunConfig,
    code: Mapping[str, str],
    files: RunFiles,
    out: Path,
    threads: int,
    sources: Mapping[str, object] = {},
) -> None:
    """Train `run` into the folder `out`, or continue it. `code` has the digests of the modules that it depends on, and
    `sources` what its input files were made from."""
    with only_writer(out) as announce, StopRequest() as stop:
        # Not before the lock: the inputs may be prepared again while this process waits for it.
        identity = RunIdentity(run.to_dict(), sources, code, files.checksums())
        checkpoints = CheckpointFolder(out, identity.id)
        announce(checkpoints.path.name)
        if _is_finished(out, identity.id):
            logger.info("another process finished this run in the meantime; keeping its result")
            return
        device_settings(threads, run.device)
        _save_identity(checkpoints.path, identity)
        inputs = files.read()
        data, total = inputs.data.about.data, len(inputs.noise.labels)
        on_epoch = partial(_log_epoch, run.training["epochs"], checkpoints.path / "metrics.csv", curves_of(out))
        trainer = build_trainer(run, inputs, checkpoints, on_epoch)
        del inputs  # the trainer has what it needs, and the rest would fill the memory
        rows = trainer.fit(stop)
        _write_arrays(out, run, trainer, total)
        source = provenance(*(sum(row[name] for row in rows) for name in TIMES))
        source["machines"] = checkpoints.machines  # more than one if the run was continued on another machine
        places = {role: os.path.relpath(path, out) for role, path in vars(files).items() if path}
        RunResult(identity, places, data, summary(rows), source).save(out / "result.json")
        checkpoints.remove()


def _is_finished(out: Path, run_id: str) -> bool:
    complete = all((out / name).exists() for name in OUTPUTS)
    return complete and RunResult.load(out / "result.json").identity.id == run_id


def _save_identity(folder: Path, identity: RunIdentity) -> None:
    """Save the identity of a run with its checkpoints. If there are only checkpoints of another identity, log what has
    changed."""
    others = sorted(folder.parent.glob(f"*/{IDENTITY}"), key=lambda path: path.stat().st_mtime)
    if not folder.exists() and others:
        stored = read_json(others[-1])
        known = "sources" in stored
        changes = compare(RunIdentity.from_dict(stored), identity) if known else ["it is of an older version of warlab"]
        logger.info(f"starting from the beginning instead of the saved state: {'; '.join(changes)}")
    write_json(folder / IDENTITY, asdict(identity))


def _write_arrays(out: Path, run: RunConfig, trainer: Trainer, total: int) -> None:
    write_text(out / "metrics.csv", to_csv(trainer.rows))
    weights = [model.state_dict() for model in trainer.models]
    write_atomic(out / "weights.pt", lambda file: torch.save(weights, file))
    write_arrays(out / "test_predictions.npz", **test_predictions(trainer.evaluate.recent, len(trainer.rows)))
    write_arrays(out / "audit.npz", **vars(add_held_out(trainer.recorder.audit.means(), run, total)))


def to_csv(rows: list[Row]) -> str:
    """Return all rows under the union of their columns, since a method may begin to log a number in a later epoch."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue()


def _log_epoch(epochs: int, metrics: Path, curves: Curves | None, rows: list[Row]) -> None:
    """Log the last epoch with an estimate of the remaining time, and update the metrics of the unfinished run."""
    write_text(metrics, to_csv(rows))
    if curves:
        curves(rows)
    last = rows[-1]
    remaining = duration((epochs - len(rows)) * seconds_per_epoch([row["seconds"] for row in rows]))
    test = f"test {last['test_accuracy']:.2f} %" if "test_accuracy" in last else "not tested"
    logger.info(
        f"epoch {len(rows)}/{epochs}  loss {last['loss']:.4f}  {test}  "
        f"{last['seconds']:.1f} s/epoch  remaining {remaining}"
    )
