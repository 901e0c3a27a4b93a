"""Methods as functions of logits: the "network" is the identity and the "images" are its outputs."""

from typing import Any

import torch
from torch import Tensor, nn

from warlab import methods
from warlab.engine.images import TrainingData
from warlab.methods.base import Batch, Log, Method, Step, Task, add_gradients

LATER = Step(epoch=50, epochs=60)


def task(y: Tensor, classes: int, **facts: Any) -> Task:
    given = {"noise_rate": 0.4, "realised_rate": 0.2, "device": torch.device("cpu"), "noise_kind": "asym", **facts}
    return Task(labels=y, classes=classes, **given)


def make(name: str, y: Tensor, classes: int, facts: dict[str, Any] | None = None, **settings: Any) -> Method:
    return methods.make(name, settings, task(y, classes, **(facts or {})))


def some_logits(n: int = 12, classes: int = 5, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return 3 * torch.randn(n, classes, generator=generator), torch.randint(classes, (n,), generator=generator)


def evaluate(method: Method, logits: Tensor, y: Tensor, step: Step = LATER) -> tuple[float, Tensor, Log]:
    """Return the total loss, its gradient in the logits, and the log. Two networks take logits of shape (2, n, C)."""
    given = logits.clone().requires_grad_()
    # With two networks, the one batch holds the logits of both and each network takes its own.
    models = [nn.Identity()] if given.dim() == 2 else [_Take(0), _Take(1)]
    total, log = add_gradients(method, models, Batch(given, y, torch.arange(len(y))), step)
    assert given.grad is not None
    return float(total), given.grad, log


def fit(method: Method, data: TrainingData, epochs: int) -> Method:
    """Train small networks on 2x2 images by the functions of the training loop in their order."""
    torch.manual_seed(0)
    sizes = range(method.n_models)
    models = [
        nn.Sequential(nn.Flatten(), nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, method.task.classes)) for _ in sizes
    ]
    optimiser = torch.optim.Adam([weight for model in models for weight in model.parameters()], 0.01)
    for epoch in range(epochs):
        method.on_epoch_start(models, Step(epoch, epochs), data)
        for index in data.epoch(epoch):
            optimiser.zero_grad()
            add_gradients(method, models, data.batch(index), Step(epoch, epochs))
            optimiser.step()
    return method


class _Take(nn.Module):
    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number

    def forward(self, pair: Tensor) -> Tensor:
        return pair[self.number]
