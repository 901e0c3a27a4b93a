"""From settings and arrays to networks, method, batches and schedule: all that decides the numbers of a run."""

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
from warlab.common.seeds import derive_seed
from warlab.engine.batches import Material, RunData
from warlab.engine.checkpoint import CheckpointFolder
from warlab.engine.device import best_device, place
from warlab.engine.inputs import RunInputs
from warlab.engine.listener import Listener
from warlab.engine.train import Row, Schedule, Trainer
from warlab.engine.validation import hold_out
from warlab.errors import WarlabError
from warlab.methods.base import Method, Task


def build_trainer(
    run: RunConfig,
    inputs: RunInputs,
    checkpoints: CheckpointFolder,
    on_epoch: Callable[[list[Row]], object] = lambda rows: None,
) -> Trainer:
    device, training = best_device(), run.training
    about = inputs.data.about
    # An experiment may scale its inputs differently from the others of its dataset.
    about = replace(about, mean=training.get("mean", about.mean), std=training.get("std", about.std))
    arrays, trusted = _open_set(inputs)
    noisy, trusted = hold_out(arrays, inputs.noise.labels, trusted, training.get("validation", 0.0), run.seed)
    labels = torch.from_numpy(noisy).to(device).long()
    method = methods.make(run.method.file, run.method.settings, _task(inputs, labels, device))
    true = (labels == torch.from_numpy(arrays["train_y"]).to(device)) & torch.from_numpy(trusted).to(device)
    # By name, so that only runs on this kind of samples depend on its module; the workflow adds it to the fingerprint.
    module = import_module(f"warlab.engine.{about.samples}")
    samples: Material = module.material(RunData(arrays, about, labels, true, training, run.seed))
    fresh = partial(_networks, run, inputs.initial, samples, method, device)
    models = fresh(0)
    return Trainer(
        method=method,
        models=models,
        optimisers=[make_optimiser(model, training) for model in models],
        schedule=Schedule(training["epochs"], training["lr"], tuple(training["drops"])),
        data=samples.data,
        evaluate=samples.evaluate,
        checkpoints=checkpoints,
        seed=run.seed,
        fresh=fresh,
        on_epoch=on_epoch,
        evaluate_every=training.get("evaluate_every", 1),
        listener=Listener(models, len(samples.data), method.task.classes, samples.units),
    )


def make_optimiser(model: nn.Module, training: Training) -> torch.optim.Optimizer:
    """Adam(0.9, 0.999) or SGD with momentum, as the training section of the hyper-parameters says."""
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
    run: RunConfig, initial: Path | None, samples: Material, method: Method, device: torch.device, epoch: int
) -> Sequence[nn.Module]:
    """The same seed gives the same initial weights to every method; those of a later epoch are drawn again."""
    built = []
    settings = run.net.settings | ({"weights": str(initial)} if initial else {})
    for number in range(method.n_models):
        torch.manual_seed(derive_seed("network", run.seed, number, *([epoch] if epoch else [])))
        net = nets.build(run.net.name, samples.channels, method.task.classes, **settings)
        built.append(place(method.extend(samples.adapt(net)), device))
    return built


def _open_set(inputs: RunInputs) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The arrays with other images in place of those that open-set noise replaces; False where it replaces one."""
    arrays, noise = dict(inputs.data.arrays), inputs.noise
    own = np.ones(len(noise.labels), bool)
    if (how := noise.manifest.open_set) is None:
        return arrays, own
    if inputs.other is None:
        raise WarlabError(f"The noise replaces images, but those of {how.source} are not given.")
    own[noise.replaced] = False
    arrays["train_x"] = noise.replace_images(arrays["train_x"], inputs.other)
    return arrays, own
