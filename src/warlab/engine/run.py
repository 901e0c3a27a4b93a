"""One run from files to files: read data, noise and cost, train, write metrics.csv, weights.pt and result.json."""

import csv
import io
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from warlab import methods, nets
from warlab.audit.record import Means
from warlab.common.files import (
    digest,
    file_digest,
    read_arrays,
    read_json,
    write_arrays,
    write_atomic,
    write_json,
    write_text,
)
from warlab.common.precision import forbid_tf32
from warlab.common.readings import LAST
from warlab.common.seeds import derive_seed
from warlab.data.resources._weights import initial_file
from warlab.engine.batches import Material, place
from warlab.engine.checkpoint import CheckpointFolder, StopRequest
from warlab.engine.device import best_device
from warlab.engine.identity import description_digest, identity, remember
from warlab.engine.listener import Listener
from warlab.engine.lock import only_writer
from warlab.engine.optimise import Schedule, make_optimiser
from warlab.engine.progress import Progress
from warlab.engine.provenance import provenance
from warlab.engine.train import TIMES, Row, Trainer
from warlab.engine.validation import hold_out, training_part, with_held_out
from warlab.errors import WarlabError
from warlab.methods.base import Method, Task
from warlab.noise.replaced import replace_images
from warlab.ot.costfile import read_cost

OUTPUTS = ("metrics.csv", "weights.pt", "test_predictions.npz", "audit.npz", "result.json")


@dataclass(frozen=True)
class Files:
    """What a run reads; all of it enters the run's identity by its checksum, as do the descriptions of data and noise
    (the JSON files beside them)."""

    data: Path
    noise: Path
    cost: Path | None = None
    predictions: Path | None = None
    images: Path | None = None  # data whose images take the place of others (open-set noise)
    initial: Path | None = None  # weights that the networks begin with

    @classmethod
    def of(cls, named: Mapping[str, str]) -> "Files":
        """Those among the named files that a run reads."""
        files = {field.name: Path(named[field.name]) for field in fields(cls) if field.name in named}
        if "initial" in files:
            files["initial"] = initial_file(files["initial"])
        return cls(**files)

    def checksums(self) -> dict[str, str]:
        described = {"data_json": self.data, "noise_json": self.noise}
        return {name: file_digest(path) for name, path in vars(self).items() if path is not None} | {
            name: description_digest(path.with_suffix(".json")) for name, path in described.items()
        }


def train_run(
    run: dict[str, Any], code: str, files: Files, out: Path, threads: int, say: Callable[[str], None]
) -> None:
    """Train `run` into the folder `out`, or continue it; `code` is the fingerprint of the modules it depends on."""
    checksums = files.checksums()
    run_id = digest(json.dumps([run, code, checksums], sort_keys=True).encode())
    checkpoints = CheckpointFolder(out, run_id, say)
    with only_writer(out, say, checkpoints.path.name), StopRequest() as stop:
        if _finished(out, run_id):
            return say("another process has finished this run meanwhile; its result stands")
        device_settings(threads)
        remember(checkpoints.path, identity(run, code, checksums), say)
        trainer = build_trainer(run, files, checkpoints, say)
        rows = trainer.fit(stop)
        _write_outputs(out, run, run_id, trainer, rows, {"code": code, **checksums}, files)
        checkpoints.remove()
    return None


def build_trainer(
    run: dict[str, Any], files: Files, checkpoints: CheckpointFolder, say: Callable[[str], None]
) -> Trainer:
    device = best_device()
    data, meta = read_arrays(files.data), read_json(files.data.with_suffix(".json"))
    # An experiment may scale its inputs otherwise than the data set's others do.
    meta |= {key: value for key, value in run["training"].items() if key in ("mean", "std")}
    noise = read_json(files.noise.with_suffix(".json"))
    trusted = _open_set(data, noise, files)
    noisy = _noisy_labels(files.noise, noise, data["train_y"])
    noisy, trusted = hold_out(data, noisy, trusted, run["training"], run["seed"])
    labels = torch.from_numpy(noisy).to(device).long()
    classes = len(meta["class_names"])
    task = Task(
        labels=labels,
        classes=classes,
        noise_rate=noise["rate"],
        realised_rate=noise["realised_rate"],
        device=device,
        cost=_cost(files.cost, meta["class_names"]),
        predictions=_predictions(files.predictions, len(labels)),
        noise_kind=noise["kind"],
        say=say,
    )
    method = methods.make(run["method"]["file"], run["method"]["settings"], task)
    true = (labels == torch.from_numpy(data["train_y"]).to(device)) & torch.from_numpy(trusted).to(device)
    train = run["training"]
    samples = _samples(meta).material(data, meta, labels, true, train, run["seed"])
    networks = partial(_networks, run, files.initial, samples, classes, method, device)
    models = networks(0)
    progress = Progress(train["epochs"], say, checkpoints.path / "metrics.csv", to_csv)
    return Trainer(
        method=method,
        models=models,
        optimisers=[make_optimiser(model, train) for model in models],
        schedule=Schedule(train["epochs"], train["lr"], tuple(train["drops"])),
        data=samples.data,
        evaluate=with_held_out(samples.evaluate, data, meta, device),
        checkpoints=checkpoints,
        seed=run["seed"],
        fresh=networks,
        on_epoch=progress,
        evaluate_every=train.get("evaluate_every", 1),
        listener=Listener(models, len(labels), classes, samples.units),
    )


def _samples(meta: Mapping[str, Any]) -> Any:
    """The module that knows this sort of samples; the workflow names it in the fingerprint of a run."""
    return import_module(f"warlab.engine.{meta.get('samples', 'images')}")


def _networks(
    run: dict[str, Any],
    initial: Path | None,
    samples: Material,
    classes: int,
    method: Method,
    device: torch.device,
    epoch: int,
) -> Sequence[nn.Module]:
    """The same seed gives the same initial weights to every method; those of a later epoch are drawn anew."""
    built = []
    settings = run["net"]["settings"] | ({"weights": str(initial)} if initial else {})
    for number in range(method.n_models):
        torch.manual_seed(derive_seed("network", run["seed"], number, *([epoch] if epoch else [])))
        net = nets.build(run["net"]["name"], samples.channels, classes, **settings)
        built.append(place(method.extend(samples.adapt(net)), device))
    return built


def _noisy_labels(path: Path, manifest: dict[str, Any], clean: np.ndarray) -> np.ndarray:
    labels = read_arrays(path)["labels"]
    if digest(labels) != manifest["labels_sha256"] or digest(clean) != manifest["clean_sha256"]:
        raise WarlabError(
            f"{path} does not belong to the data it is used with (checksums differ): delete it and run again."
        )
    return labels


def _open_set(data: dict[str, np.ndarray], manifest: dict[str, Any], files: Files) -> np.ndarray:
    """Put other images in place of those that open-set noise replaces; True where an image is still its own."""
    own = np.ones(len(data["train_y"]), bool)
    if "open_set" not in manifest:
        return own
    if files.images is None:
        raise WarlabError(
            f"{files.noise} replaces images, but those of {manifest['open_set']['source']} are not given."
        )
    noise, source = read_arrays(files.noise), read_arrays(files.images)["train_x"]
    data["train_x"] = replace_images(data["train_x"], noise, source, manifest["open_set"])
    own[noise["replaced"]] = False
    return own


def _cost(path: Path | None, class_names: list[str]) -> Tensor | None:
    return None if path is None else torch.from_numpy(read_cost(path, class_names)).float()


def _predictions(path: Path | None, count: int) -> Tensor | None:
    if path is None:
        return None
    found = torch.from_numpy(read_arrays(path)["probabilities"])
    if len(found) != count:
        raise WarlabError(
            f"{path} has predictions for {len(found)} samples, but this run trains on {count}; give both runs the same "
            "`validation`."
        )
    return found


def device_settings(threads: int) -> None:
    """Same seed, same bits: deterministic kernels where torch has them, and true float32 on GPUs."""
    forbid_tf32()
    torch.set_num_threads(threads)
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # without it cuBLAS only warns
    # use_deterministic_algorithms(True, warn_only=True) does the same, but imports the compiler, which takes a second.
    torch.set_deterministic_debug_mode("warn")
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined] # only slow
    torch.backends.cudnn.benchmark = False


def _finished(out: Path, run_id: str) -> bool:
    complete = all((out / name).exists() for name in OUTPUTS)
    return complete and read_json(out / "result.json")["id"] == run_id


def _write_outputs(
    out: Path,
    run: dict[str, Any],
    run_id: str,
    trainer: Trainer,
    rows: list[Row],
    hashes: dict[str, str],
    files: Files,
) -> None:
    write_text(out / "metrics.csv", to_csv(rows))
    weights = [model.state_dict() for model in trainer.models]
    write_atomic(out / "weights.pt", lambda file: torch.save(weights, file))
    write_arrays(out / "test_predictions.npz", **test_predictions(trainer.evaluate.recent, len(rows)))
    write_arrays(out / "audit.npz", **heard(trainer, run, files.noise).arrays())
    result = {
        "id": run_id,
        "run": run,
        "data": read_json(files.data.with_suffix(".json"))["data"],
        "summary": summary(rows),
        "provenance": {
            **provenance(hashes, *(sum(row[name] for row in rows) for name in TIMES)),
            "machines": trainer.checkpoints.machines,  # more than one if the run went on elsewhere
        },
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    write_json(out / "result.json", result)


def heard(trainer: Trainer, run: dict[str, Any], noise: Path) -> Means:
    """What the networks said of every training sample; those of a validation split were never seen."""
    means, share = trainer.listener.means(), run["training"].get("validation", 0.0)
    if not share:
        return means
    total = len(read_arrays(noise)["labels"])
    return means.among(training_part(total, share, run["seed"]), total)


def test_predictions(recent: Sequence[Tensor], epochs: int) -> dict[str, np.ndarray]:
    """`predictions` (E, M, N): the predicted class of each test image in the last E epochs, by each of M networks, and
    `epochs` (E,), counted from 1. E is 0 where predictions are not kept, as of tiles."""
    kept = np.stack([one.numpy() for one in recent]) if recent else np.empty((0, 0, 0), np.uint8)
    return {"predictions": kept, "epochs": np.arange(epochs - len(recent), epochs) + 1}


def summary(rows: list[Row]) -> dict[str, float]:
    """The readings of a run: mean and spread of the last ten epochs (the paper's), last, and best on test,
    which is a diagnostic only, since no one may choose an epoch by test labels."""
    accuracy = np.array([row["test_accuracy"] for row in rows if "test_accuracy" in row])
    return {
        "last10_mean": float(accuracy[-LAST:].mean()),
        "last10_std": float(accuracy[-LAST:].std()),
        "last": float(accuracy[-1]),
        "best_on_test_diagnostic": float(accuracy.max()),
    }


def to_csv(rows: list[Row]) -> str:
    """All rows under the union of their columns, since a method may begin to log later than at the start."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue()
