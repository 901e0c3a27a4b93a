"""Read the input files of a run, and build its networks, method, batches and schedule."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from warlab import methods, nets
from warlab.artefacts.ground_cost import read_matrix
from warlab.artefacts.labelled_data import DataDescription, NoisyLabels, PreparedData
from warlab.artefacts.run_config import RunConfig, Training
from warlab.artefacts.run_identity import input_checksums
from warlab.audit.record import Means
from warlab.common.files import read_arrays
from warlab.common.seeds import derive_seed
from warlab.data import weights_file
from warlab.engine import images, stored, tiles
from warlab.engine.augment import Augmentation
from warlab.engine.checkpoint import CheckpointFolder
from warlab.engine.device import best_device, place
from warlab.engine.images import RunData, SampleSet
from warlab.engine.train import Networks, Recorder, Row, Schedule, Trainer
from warlab.errors import WarlabError
from warlab.methods.base import Method, Task

SAMPLES = {
    "images": images.sample_set,
    "vectors": images.sample_set,
    "stored": stored.sample_set,
    "tiles": tiles.sample_set,
}


@dataclass(frozen=True)
class RunInputs:
    """What a run reads. `other` are images of another dataset, which open-set noise puts in place of some of these."""

    data: PreparedData
    noise: NoisyLabels
    cost: np.ndarray | None = None
    predictions: np.ndarray | None = None
    other: np.ndarray | None = None
    initial: Path | None = None  # weights that the networks begin with


@dataclass(frozen=True)
class RunFiles:
    """The paths of what a run reads. The checksums of all files are part of the run's identity, and so are the
    descriptions of data and noise, JSON files with the same names."""

    data: Path
    noise: Path
    cost: Path | None = None
    predictions: Path | None = None
    images: Path | None = None
    initial: Path | None = None

    @classmethod
    def select(cls, inputs: Mapping[str, str]) -> "RunFiles":
        """Select the files that a run reads from the inputs of a rule."""
        files = {one.name: Path(inputs[one.name]) for one in fields(cls) if one.name in inputs}
        if "initial" in files:
            files["initial"] = weights_file(files["initial"])
        return cls(**files)

    def checksums(self) -> dict[str, str]:
        return input_checksums({role: path for role, path in vars(self).items() if path is not None})

    def read(self) -> RunInputs:
        data, noise = PreparedData.load(self.data), NoisyLabels.load(self.noise)
        noise.check(data.arrays["train_y"], self.noise)
        replaces = noise.manifest.open_set is not None
        return RunInputs(
            data,
            noise,
            cost=None if self.cost is None else read_matrix(self.cost, data.about.class_names),
            predictions=None if self.predictions is None else read_arrays(self.predictions)["probabilities"],
            other=read_arrays(self.images)["train_x"] if replaces and self.images else None,
            initial=self.initial,
        )


def build_trainer(
    run: RunConfig,
    inputs: RunInputs,
    checkpoints: CheckpointFolder,
    on_epoch: Callable[[list[Row]], object] = lambda rows: None,
) -> Trainer:
    samples, method, networks = build_parts(run, inputs)
    models, training = networks(0), run.training
    return Trainer(
        method=method,
        models=models,
        optimisers=[make_optimiser(model, training) for model in models],
        schedule=Schedule(training["epochs"], training["lr"], tuple(training["drops"])),
        data=samples.data,
        evaluate=samples.evaluate,
        checkpoints=checkpoints,
        seed=run.seed,
        networks=networks,
        on_epoch=on_epoch,
        evaluate_every=training.get("evaluate_every", 1),
        augment=make_augmentation(run, inputs.data.about),
        keeps_best=training.get("keep") == "best_validation",
        recorder=Recorder(models, len(samples.data), method.task.classes, samples.units and samples.units()),
    )


def build_parts(run: RunConfig, inputs: RunInputs) -> tuple[SampleSet, Method, Networks]:
    """Return the samples and the method of a run, and a function that builds its networks."""
    device, training, about = best_device(), run.training, inputs.data.about
    # An experiment may scale its inputs differently from the others of its dataset.
    about = replace(about, mean=training.get("mean", about.mean), std=training.get("std", about.std))
    arrays, trusted = _replace_images(inputs)
    share = training.get("validation", 0.0)
    part = training_part(len(trusted), share, run.seed)
    noisy, trusted = _hold_out(arrays, inputs.noise.labels, trusted, share, part)
    labels = torch.from_numpy(noisy).to(device).long()
    method = methods.make(run.method.file, run.method.settings, _make_task(inputs, labels, part))
    true = (labels == torch.from_numpy(arrays["train_y"]).to(device)) & torch.from_numpy(trusted).to(device)
    samples = SAMPLES[about.samples](RunData(arrays, about, labels, true, training, run.seed))
    settings = run.net.settings | ({"weights": str(inputs.initial)} if inputs.initial else {})

    def networks(epoch: int) -> Sequence[nn.Module]:
        """Build the networks that start in this epoch: 0, or that of a restart, which draws other weights. The same
        seed gives all methods the same initial weights."""
        models = []
        for number in range(method.n_models):
            torch.manual_seed(derive_seed("network", run.seed, number, *([epoch] if epoch else [])))
            net = nets.build(run.net.name, samples.channels, method.task.classes, **settings)
            if about.samples != "tiles":
                nets.check_images(net, run.net.name, samples.data.batch(labels.new_zeros(1)).x.cpu())
            models.append(place(method.extend(samples.adapt(net)), device))
        return models

    return samples, method, networks


def make_augmentation(run: RunConfig, about: DataDescription) -> Augmentation:
    kind = run.training.get("augmentation", "none")
    if kind != "none" and about.samples not in ("images", "stored"):
        raise WarlabError(f"{about.dataset} has no images to augment; set `augmentation` of its training to none.")
    return Augmentation(kind, run.training.get("mean", about.mean), run.training.get("std", about.std))


def make_optimiser(model: nn.Module, training: Training) -> torch.optim.Optimizer:
    """Adam(0.9, 0.999) or SGD with momentum, with the settings of the training."""
    lr, decay, kind = training["lr"], training["weight_decay"], training["optimiser"]
    if kind == "adam":
        return torch.optim.Adam(model.parameters(), lr=lr, betas=(0.9, 0.999), weight_decay=decay)
    if kind == "sgd":
        return torch.optim.SGD(model.parameters(), lr=lr, momentum=training["momentum"], weight_decay=decay)
    raise WarlabError(f"The optimiser must be adam or sgd, not {kind!r}.")


def _make_task(inputs: RunInputs, labels: Tensor, part: np.ndarray) -> Task:
    noise, predictions = inputs.noise.manifest, inputs.predictions
    if predictions is not None and len(predictions) != len(inputs.noise.labels):
        raise WarlabError(
            f"The run that this method builds on has predictions for {len(predictions)} samples, but there are "
            f"{len(inputs.noise.labels)}; delete its predictions and run again."
        )
    return Task(
        labels=labels,
        classes=len(inputs.data.about.class_names),
        noise_rate=noise.rate,
        realised_rate=noise.realised_rate,
        device=labels.device,
        cost=None if inputs.cost is None else torch.from_numpy(inputs.cost).float(),
        predictions=None if predictions is None else torch.from_numpy(predictions[part]),
        noise_kind=noise.kind,
    )


def _replace_images(inputs: RunInputs) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return the arrays with the images that open-set noise puts in place of others, and a mask that is False there."""
    arrays, noise = dict(inputs.data.arrays), inputs.noise
    original = np.ones(len(noise.labels), bool)
    if (how := noise.manifest.open_set) is None:
        return arrays, original
    if inputs.other is None:
        raise WarlabError(f"The noise replaces images, but those of {how.source} are not given.")
    original[noise.replaced] = False
    arrays["train_x"] = noise.replace_images(arrays["train_x"], inputs.other)
    return arrays, original


# ---- a part of the training set that no method sees; its noisy labels choose an epoch where no clean ones are known


def training_part(count: int, share: float, seed: int) -> np.ndarray:
    """Return the indices of the samples to train on, in order; (seed, share) decides which others are held out."""
    held = np.random.default_rng(derive_seed("validation", seed)).permutation(count)[: round(count * share)]
    return np.setdiff1d(np.arange(count), held)


def _hold_out(
    arrays: dict[str, np.ndarray], labels: np.ndarray, trusted: np.ndarray, share: float, part: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels and `trusted` of the `part` to train on; `held_x` and `held_y` in the arrays are the others.
    A share of 0, as in the paper, changes nothing."""
    if not share:
        return labels, trusted
    if "train_x" not in arrays or len(arrays["train_x"]) != len(labels):
        raise WarlabError("`validation` cuts a split from images in memory; leave it at 0 for tiles and stored images.")
    held = np.setdiff1d(np.arange(len(labels)), part)
    if len(held) == 0 or len(part) < 2:
        raise WarlabError(f"`validation` of {share} leaves {len(part)} of {len(labels)} samples; choose another share.")
    arrays |= {"held_x": arrays["train_x"][held], "held_y": labels[held]}
    arrays |= {name: arrays[name][part] for name in ("train_x", "train_y")}
    return labels[part], trusted[part]


def add_held_out(means: Means, run: RunConfig, total: int) -> Means:
    """Return the means of all `total` samples; those that were held out have never been seen."""
    share = run.training.get("validation", 0.0)
    return means.expand(training_part(total, share, run.seed), total) if share else means
