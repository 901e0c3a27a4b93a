"""Seconds per epoch of CCE, AR and WAR, on random images and labels of a dataset's shape.

Time depends on shapes, not on the content of images. The methods take turns step by step, so that other work on the
machine slows all of them equally. The time of an epoch is the median time of a step, multiplied by the steps.
"""

import math
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from warlab import methods, nets
from warlab.artefacts.run_config import MethodConfig, NetConfig, TimingSpec
from warlab.common.progress import Progress
from warlab.engine.build import make_optimiser
from warlab.engine.device import best_device, memory_format, place
from warlab.methods.base import Batch, Step, Task, add_gradients
from warlab.ot.sinkhorn import sinkhorn

AUTHORS_CODE = "war_code"
_PROBE, _TINY = 1e-6, 1e-8  # length of the random probe, and what avoids a division by zero, in the authors' code
TrainingStep = Callable[[], None]


def seconds_per_epoch(spec: TimingSpec) -> dict[str, dict[str, float]]:
    """Return the median seconds of a step, those of an epoch, and the standard error of the latter, for each method."""
    device = best_device()
    steps = {name: _training_step(MethodConfig(**method), spec, device) for name, method in spec["methods"].items()}
    times = _measure(steps, spec["steps"], device)
    per_epoch = -(-spec["images"] // spec["training"]["batch_size"])
    medians = {name: statistics.median(values) for name, values in times.items()}
    return {
        name: {"step": median, "epoch": median * per_epoch, "error": per_epoch * error_of_median(times[name])}
        for name, median in medians.items()
    }


def error_of_median(values: list[float]) -> float:
    """Return a quarter of the width of the median's 95 % confidence interval (binomial ranks)."""
    ordered, reach = sorted(values), math.sqrt(len(values))
    low, high = math.floor(len(values) / 2 - reach), math.ceil(len(values) / 2 + reach)
    return (ordered[min(high, len(values) - 1)] - ordered[max(low, 0)]) / 4


def _measure(steps: dict[str, TrainingStep], repeats: int, device: torch.device) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in steps}
    warm_up = max(1, repeats // 10)
    progress = Progress("step {} of {}, the warm-up included", warm_up + repeats)
    for number in range(-warm_up, repeats):
        for name, step in steps.items():
            started = time.perf_counter()
            step()
            if device.type == "cuda":
                torch.cuda.synchronize()
            if number >= 0:
                times[name].append(time.perf_counter() - started)
        progress(number + warm_up + 1)
    return times


def _training_step(method: MethodConfig, spec: TimingSpec, device: torch.device) -> TrainingStep:
    """Return a function that makes one complete training step of a method, after its warm-up."""
    torch.manual_seed(0)
    net, size, classes = NetConfig(**spec["net"]), spec["training"]["batch_size"], spec["classes"]
    model = place(nets.build(net.name, spec["shape"][0], classes, **net.settings), device)
    x = torch.randn(size, *spec["shape"], device=device).contiguous(memory_format=memory_format(device))
    batch = Batch(x, torch.randint(classes, (size,), device=device), torch.arange(size, device=device))
    optimiser, cost = make_optimiser(model, spec["training"]), 1 - torch.eye(classes)
    task, late = Task(batch.y, classes, 0.0, 0.0, device, cost), Step(10**6, 10**6)  # past every warm-up
    algorithm = None if method.id == AUTHORS_CODE else methods.make(method.file, method.settings, task)

    def step() -> None:
        optimiser.zero_grad(set_to_none=True)
        if algorithm is None:
            _authors_loss(model, batch, cost.to(x), method.settings).backward()
        else:
            add_gradients(algorithm, [model], batch, late)
        optimiser.step()

    return step


def _authors_loss(model: nn.Module, batch: Batch, cost: Tensor, settings: Mapping[str, Any]) -> Tensor:
    """Return WAR as the authors' code computes it: four forward passes, and for the direction also the gradients of all
    weights, which are discarded. `warlab.war.perturbation` avoids them, so it cannot be used here."""

    def transport(x: Tensor) -> Tensor:
        value = sinkhorn(model(x).softmax(1), reference, cost, settings["lam"], settings["iterations"], False)
        return value.mean()

    entropy = cross_entropy(model(batch.x), batch.y)
    reference = model(batch.x).softmax(1).detach()
    probe = _scale(torch.randn_like(batch.x), _PROBE).requires_grad_()
    transport(batch.x + probe).backward()
    model.zero_grad(set_to_none=True)
    assert probe.grad is not None
    return entropy + settings["beta"] * transport(batch.x + _scale(probe.grad, settings["epsilon"]))


def _scale(x: Tensor, length: float) -> Tensor:
    norm = x.flatten(1).norm(dim=1).view(-1, *([1] * (x.dim() - 1)))
    return length * x / (norm + _TINY)
