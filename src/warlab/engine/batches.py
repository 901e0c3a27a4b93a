"""What each sort of samples hands to the loop; the sorts are `images`, `stored` and `tiles`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn

from warlab.artefacts.labelled_data import DataDescription
from warlab.artefacts.run_config import Training
from warlab.engine.device import memory_format
from warlab.methods.base import Method, Samples


class Batches(Samples, Protocol):
    """Training samples of any sort, cut into batches."""

    def epoch(self, epoch: int) -> list[Tensor]:
        """What `batch` makes each batch of the epoch from; a function of (seed, epoch)."""


class Evaluation(Protocol):
    """What alone sees clean labels."""

    recent: list[Tensor]  # the predicted classes (M, N) of the last evaluations; empty if they are not kept

    def __call__(self, method: Method, models: Sequence[nn.Module]) -> dict[str, float]:
        """Numbers of the test set in percent, test_accuracy among them."""

    def purity(self, selected: Tensor, index: Tensor) -> dict[str, Tensor]:
        """The share of true labels among the selected samples (M, B) with these numbers (B,)."""


def unchanged(net: nn.Module) -> nn.Module:
    return net


@dataclass(frozen=True)
class RunData:
    """What each sort of samples is made of. `labels` are the noisy ones, `trusted` is True where a label is right."""

    arrays: Mapping[str, np.ndarray]
    about: DataDescription
    labels: Tensor
    trusted: Tensor
    training: Training
    seed: int


@dataclass(frozen=True)
class Material:
    """What one sort of samples hands to the loop; `adapt` makes a network give one row per sample, `units` the numbers
    of what an audit of the labels judges, where that is not the single sample."""

    channels: int
    data: Batches
    evaluate: Evaluation
    adapt: Callable[[nn.Module], nn.Module] = unchanged
    units: Callable[[], Tensor] | None = None


class Normalise:
    """uint8 images (B, C, H, W) as float32 of mean 0 and deviation 1, in the memory format of the device."""

    def __init__(self, mean: Sequence[float], std: Sequence[float], device: torch.device) -> None:
        self.mean, self.std = (torch.tensor(values, device=device).view(1, -1, 1, 1) for values in (mean, std))

    def __call__(self, pixels: Tensor) -> Tensor:
        images = (pixels.float() / 255 - self.mean) / self.std
        return images.contiguous(memory_format=memory_format(images.device))


def purity(selected: Tensor, trusted: Tensor) -> dict[str, Tensor]:
    """Percent of true labels (B,) among the selected samples (M, B) of a batch, averaged over the networks."""
    true = (selected & trusted).sum(1)
    return {"purity": 100 * (true / selected.sum(1).clamp_min(1)).mean()}
