"""Build the networks, method, batches and schedule of a run from its settings and arrays."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from warlab import methods, nets
from warlab.artefacts.run_config import RunConfig, Training
from warlab.audit.record import Means
from warlab.common.seeds import derive_seed
from warlab.engine.batches import RunData, SampleSet
from warlab.engine.checkpoint import CheckpointFolder
from warlab.engine.device import best_device, place
from warlab.engine.inputs import RunInputs
from warlab.engine.listener import Listener
from warlab.engine.train import Networks, Row, Schedule, Trainer
from warlab.errors import WarlabError
from warlab.methods.base import Method, Task


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
        listener=Listener(models, len(samples.data), method.task.classes, samples.units and samples.units()),
    )


def build_parts(run: RunConfig, inputs: RunInputs) -> tuple[SampleSet, Method, Networks]:
    """The samples and the method of a run, and a function that builds its networks."""
    device, training, about = best_device(), run.training, inputs.data.about
    # An experiment may scale its inputs differently from the others of its dataset.
    about = replace(about, mean=training.get("mean", about.mean), std=training.get("std", about.std))
    arrays, trusted = _open_set(inputs)
    noisy, trusted = _hold_out(arrays, inputs.noise.labels, trusted, training.get("validation", 0.0), run.seed)
    labels = torch.from_numpy(noisy).to(device).long()
    method = methods.make(run.method.file, run.method.settings, _task(inputs, labels, device))
    true = (labels == torch.from_numpy(arrays["train_y"]).to(device)) & torch.from_numpy(trusted).to(device)
    # By name, so that only runs on this kind of samples depend on its module; the workflow adds it to the fingerprint.
    module = import_module(f"warlab.engine.{about.samples}")
    samples: SampleSet = module.sample_set(RunData(arrays, about, labels, true, training, run.seed))
    return samples, method, partial(_networks, run, inputs.initial, samples, method, device)


def make_optimiser(model: nn.Module, training: Training) -> torch.optim.Optimizer:
    """Adam(0.9, 0.999) or SGD with momentum, with the settings of the training."""
    lr, decay, kind = training["lr"], training["weight_decay"], training["optimiser"]
    if kind == "adam":
        return torch.optim.Adam(model.parameters(), lr=lr, betas=(0.9, 0.999), weight_decay=decay)
    if kind == "sgd":
        return torch.optim.SGD(model.parameters(), lr=lr, momentum=training["momentum"], weight_decay=decay)
    raise WarlabError(f"The optimiser must be adam or sgd, not {kind!r}.")


def _task(inputs: RunInputs, labels: Tensor, device: torch.device) -> Task:
    noise, predictions = inputs.noise.manifest, inputs.predictions
    if predictions is not None and len(predictions) != len(labels):
        raise WarlabError(
            f"The run that this method builds on has predictions for {len(predictions)} samples, but this run trains "
            f"on {len(labels)}; give both runs the same `validation`."
        )
    return Task(
        labels=labels,
        classes=len(inputs.data.about.class_names),
        noise_rate=noise.rate,
        realised_rate=noise.realised_rate,
        device=device,
        cost=None if inputs.cost is None else torch.from_numpy(inputs.cost).float(),
        predictions=None if predictions is None else torch.from_numpy(predictions),
        noise_kind=noise.kind,
    )


def _networks(
    run: RunConfig, initial: Path | None, samples: SampleSet, method: Method, device: torch.device, epoch: int
) -> Sequence[nn.Module]:
    """The networks at the start of an epoch, 0 or that of a restart. The same seed gives all methods the same initial
    weights; a restart draws others."""
    models = []
    settings = run.net.settings | ({"weights": str(initial)} if initial else {})
    for number in range(method.n_models):
        torch.manual_seed(derive_seed("network", run.seed, number, *([epoch] if epoch else [])))
        net = nets.build(run.net.name, samples.channels, method.task.classes, **settings)
        models.append(place(method.extend(samples.adapt(net)), device))
    return models


def _open_set(inputs: RunInputs) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The arrays with the images that open-set noise puts in place of others, and a mask that is False for these."""
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
    """The numbers of the samples to train on, in their order; (seed, share) decides which others are held out."""
    held = np.random.default_rng(derive_seed("validation", seed)).permutation(count)[: round(count * share)]
    return np.setdiff1d(np.arange(count), held)


def _hold_out(
    arrays: dict[str, np.ndarray], labels: np.ndarray, trusted: np.ndarray, share: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """The labels and `trusted` of the samples to train on; the others become `held_x` and `held_y` of the arrays. A
    share of 0, as in the paper, changes nothing."""
    if not share:
        return labels, trusted
    if "train_x" not in arrays or len(arrays["train_x"]) != len(labels):
        raise WarlabError("`validation` cuts a split from images in memory; leave it at 0 for tiles and stored images.")
    kept = training_part(len(labels), share, seed)
    held = np.setdiff1d(np.arange(len(labels)), kept)
    if len(held) == 0 or len(kept) < 2:
        raise WarlabError(f"`validation` of {share} leaves {len(kept)} of {len(labels)} samples; choose another share.")
    arrays |= {"held_x": arrays["train_x"][held], "held_y": labels[held]}
    arrays |= {name: arrays[name][kept] for name in ("train_x", "train_y")}
    return labels[kept], trusted[kept]


def of_all_samples(means: Means, run: RunConfig, total: int) -> Means:
    """The means of all `total` samples, of which those held out were never seen."""
    share = run.training.get("validation", 0.0)
    return means.among(training_part(total, share, run.seed), total) if share else means
