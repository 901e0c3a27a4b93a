"""What the training loop needs of each kind of samples; the kinds are the modules `images`, `stored` and `tiles`."""

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
    """Training samples of any kind, in batches."""

    def epoch(self, epoch: int) -> list[Tensor]:
        """The arguments of `batch` for all batches of an epoch; a function of (seed, epoch)."""


class Evaluation(Protocol):
    """The only part of a training that sees clean labels."""

    recent: list[Tensor]  # the predicted classes (M, N) of the last evaluations; empty if they are not kept

    def __call__(self, method: Method, models: Sequence[nn.Module]) -> dict[str, float]:
        """Scores on the test set in percent; `test_accuracy` is one of them."""

    def purity(self, selected: Tensor, index: Tensor) -> dict[str, Tensor]:
        """The purity of the `selected` ones (M, B) among the samples with these numbers (B,); {} if it is unknown."""


@dataclass(frozen=True)
class RunData:
    """What each kind of samples is built from. `labels` are noisy, `trusted` is True where a label is right."""

    arrays: Mapping[str, np.ndarray]
    about: DataDescription
    labels: Tensor
    trusted: Tensor
    training: Training
    seed: int


@dataclass(frozen=True)
class SampleSet:
    """Samples of one kind: batches to train on, and the evaluation.

    `adapt` makes a network return one row per sample. `units` returns the number of the unit that each sample belongs
    to, if an audit of the labels judges units such as objects instead of single samples.
    """

    channels: int
    data: Batches
    evaluate: Evaluation
    adapt: Callable[[nn.Module], nn.Module] = lambda net: net
    units: Callable[[], Tensor] | None = None


class Normalise:
    """Scale uint8 images (B, C, H, W) to float32 of mean 0 and deviation 1, in the memory format of the device."""

    def __init__(self, mean: Sequence[float], std: Sequence[float], device: torch.device) -> None:
        self.mean, self.std = (torch.tensor(values, device=device).view(1, -1, 1, 1) for values in (mean, std))

    def __call__(self, pixels: Tensor) -> Tensor:
        images = (pixels.float() / 255 - self.mean) / self.std
        return images.contiguous(memory_format=memory_format(images.device))


def purity(selected: Tensor, trusted: Tensor) -> dict[str, Tensor]:
    """The share of right labels (B,) among the selected samples (M, B) in percent, averaged over the networks."""
    right = (selected & trusted).sum(1)
    return {"purity": 100 * (right / selected.sum(1).clamp_min(1)).mean()}
