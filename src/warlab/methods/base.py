"""The contract between the training loop and a method.

A method is one file with a frozen dataclass `Config` (its settings; the defaults name their source) and a class
`Algorithm(Method)`. `loss` is the one verb that it must have; everything else has a sensible default.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Batch:
    """All that a method may see of the data: inputs, noisy labels, and the samples' stable numbers."""

    x: Tensor
    y: Tensor
    index: Tensor


@dataclass(frozen=True)
class Step:
    """Where in the training a batch stands; epochs count from 0."""

    epoch: int
    epochs: int


@dataclass(frozen=True)
class Task:
    """What a method may know before it starts."""

    labels: Tensor  # the noisy labels of all training samples
    classes: int
    noise_rate: float  # the nominal rate, which several baselines ask for
    realised_rate: float  # the share of labels that were really changed
    device: torch.device
    cost: Tensor | None = None
    predictions: Tensor | None = None  # probabilities of the run named by `needs_run` on the training images


Losses = Tensor | Sequence[Tensor]  # one scalar for all models, or one each
Log = dict[str, Tensor | float]


class Method(ABC):
    """Subclass as `Algorithm`; class attributes are literals, since the workflow reads them without torch."""

    label: ClassVar[str] = ""
    n_models: ClassVar[int] = 1
    needs_run: ClassVar[str | None] = None

    def __init__(self, config: Any, task: Task) -> None:
        self.config = config
        self.task = task

    @abstractmethod
    def loss(self, models: Sequence[nn.Module], batch: Batch, step: Step) -> tuple[Losses, Log]:
        """The loss to minimise on this batch, and numbers to log (their epoch mean reaches metrics.csv)."""

    def on_epoch_start(self, models: Sequence[nn.Module], step: Step, batches: Callable[[], Any]) -> None:
        """Called before each epoch; `batches()` iterates over all training samples in order."""
        return

    def predict(self, models: Sequence[nn.Module], x: Tensor) -> Tensor:
        """Class scores (M, B, C) for evaluation: one sheet per network that is reported, accuracies are averaged."""
        return torch.stack([model(x) for model in models])

    def state_dict(self) -> dict[str, Any]:
        """What a resumed run cannot recompute (tensors, numbers, lists and dicts of them)."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
