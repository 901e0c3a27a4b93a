"""The contract between the training loop and a method.

A method is one file with a frozen dataclass `Config` (its settings; the defaults name their source) and a class
`Algorithm(Method)`. `loss` is the only function that it must define; everything else has a sensible default.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import torch
from torch import Tensor, nn

from warlab.errors import WarlabError


@dataclass(frozen=True)
class Batch:
    """All that a method may see of the data: inputs, noisy labels, and the indices of the samples. `view` are the same
    samples as `x` in another augmentation, if the training asks for two."""

    x: Tensor
    y: Tensor
    index: Tensor
    view: Tensor | None = None


class Samples(Protocol):
    """All training samples, for estimates that need more than a batch."""

    def __len__(self) -> int: ...

    def batch(self, index: Tensor) -> Batch:
        """Return the samples with these indices."""

    def ordered_batches(self, size: int = 1000) -> Iterator[Batch]:
        """Return all samples in the order of their indices."""


@dataclass(frozen=True)
class Step:
    """The position of a batch in the training; epochs and batches count from 0."""

    epoch: int
    epochs: int
    batch: int = 0


@dataclass(frozen=True)
class Task:
    """What a method may know before it starts."""

    labels: Tensor  # the noisy labels of all training samples
    classes: int
    noise_rate: float  # the nominal rate, which several baselines need
    realised_rate: float  # the share of labels that were really changed
    device: torch.device
    cost: Tensor | None = None
    predictions: Tensor | None = None  # probabilities of the run that `needs_run` names for these samples
    noise_kind: str = ""  # asym, sym, pairflip, …: some baselines' code depends on it


Models = Sequence[nn.Module]  # the networks of a run: one, or two
Losses = Tensor | Sequence[Tensor]  # one scalar for all models, or one each
Log = dict[str, Tensor | float]
SELECTED = "selected"  # in a Log: mask (M, B) of the samples that each network trains on, for the purity
LOGITS = "logits"  # in a Log: logits (B, C) for the audit of labels, if the method never calls a whole network


class Method(ABC):
    """Subclass as `Algorithm`; class attributes are literals, since the workflow reads them without torch."""

    label: ClassVar[str] = ""
    n_models: ClassVar[int] = 1
    # another method, whose run of the same cell is trained first; or a setting, and the method for each of its values
    needs_run: ClassVar[str | tuple[str, dict[str, str]] | None] = None
    # whether it cannot train on pixels of tiles; or a setting, and its value with which it cannot
    images_only: ClassVar[bool | tuple[str, str]] = False
    saved: ClassVar[tuple[str, ...]] = ()  # attributes that a resumed run cannot recompute

    def __init__(self, config: Any, task: Task) -> None:
        self.config = config
        self.task = task

    @abstractmethod
    def loss(self, models: Models, batch: Batch, step: Step) -> tuple[Losses, Log]:
        """Return the loss to minimise on this batch, and numbers to log (their epoch mean reaches metrics.csv)."""

    def regulariser(self, models: Models, batch: Batch, step: Step) -> tuple[Tensor | None, Log]:
        """Return a second loss, or None, and numbers to log. It is computed after the gradients of `loss`, so that only
        one of the two graphs is in memory at a time."""
        return None, {}

    def extend(self, network: nn.Module) -> nn.Module:
        """Return the network with what the method adds, such as a layer; it is trained, saved and evaluated with it."""
        return network

    def lr(self, step: Step, scheduled: Callable[[int], float]) -> float:
        """Return the learning rate of this epoch; `scheduled(epoch)` is the schedule that all methods share."""
        return scheduled(step.epoch)

    def restarts(self, step: Step) -> bool:
        """Return whether this epoch starts with new networks and optimisers."""
        return False

    def on_epoch_start(self, models: Models, step: Step, samples: Samples) -> None:
        """Prepare an epoch, before its first batch."""
        return

    def predict(self, models: Models, x: Tensor) -> Tensor:
        """Return class scores (M, B, C) for evaluation by M networks, whose accuracies are averaged."""
        return torch.stack([model(x) for model in models])

    def state_dict(self) -> dict[str, Any]:
        """Return what a resumed run cannot recompute (tensors, numbers, lists and dicts of them)."""
        return {name: getattr(self, name) for name in self.saved}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value.to(self.task.device) if isinstance(value, Tensor) else value)


def add_gradients(method: Method, models: Models, batch: Batch, step: Step) -> tuple[Tensor, Log]:
    """Add the gradients of the method's losses on this batch to those of the weights; return the total and the log."""
    losses, log = method.loss(models, batch, step)
    # Losses of several networks have disjoint graphs and are summed.
    loss = losses if isinstance(losses, Tensor) else torch.stack(list(losses)).sum()
    loss.backward()
    penalty, more = method.regulariser(models, batch, step)
    if penalty is None:
        return loss.detach(), log | more
    penalty.backward()
    return loss.detach() + penalty.detach(), log | more


def features(model: nn.Module, x: Tensor) -> Tensor:
    """Return the vector before the last layer of a network."""
    if not hasattr(model, "features"):
        raise WarlabError(
            "The vector before the last layer is needed here; give the network a method features(x), or choose another "
            "network."
        )
    vector: Tensor = model.features(x)  # type: ignore[operator]
    return vector


@contextmanager
def evaluating(*models: nn.Module) -> Iterator[None]:
    """Evaluation mode and no gradients inside; afterwards every model returns to its former mode."""
    modes = [model.training for model in models]
    try:
        for model in models:
            model.eval()
        with torch.no_grad():
            yield
    finally:
        for model, mode in zip(models, modes, strict=True):
            model.train(mode)
