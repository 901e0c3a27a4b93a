"""Optimisers and the learning-rate schedule of the paper: constant, divided by 10 at given epochs."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn

from warlab.artefacts.run_config import Training
from warlab.errors import WarlabError


@dataclass(frozen=True)
class Schedule:
    """`drops` are zero-based epochs from which the rate is one tenth of what it was before."""

    epochs: int
    lr: float
    drops: tuple[int, ...] = ()

    def rate(self, epoch: int) -> float:
        return self.lr * 0.1 ** sum(epoch >= drop for drop in self.drops)


def set_rate(optimisers: Sequence[torch.optim.Optimizer], rate: float) -> None:
    for optimiser in optimisers:
        for group in optimiser.param_groups:
            group["lr"] = rate


def make_optimiser(model: nn.Module, training: Training) -> torch.optim.Optimizer:
    """Adam(0.9, 0.999) or SGD with momentum, as the training section of the hyper-parameters says."""
    lr, decay, kind = training["lr"], training["weight_decay"], training["optimiser"]
    if kind == "adam":
        return torch.optim.Adam(model.parameters(), lr=lr, betas=(0.9, 0.999), weight_decay=decay)
    if kind == "sgd":
        return torch.optim.SGD(model.parameters(), lr=lr, momentum=training["momentum"], weight_decay=decay)
    raise WarlabError(f"The optimiser must be adam or sgd, not {kind!r}.")
