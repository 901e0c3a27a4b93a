"""Small datasets live on the device as uint8; shuffles are functions of (seed, epoch), so a resumed run sees
the same batches."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn

from warlab.artefacts.prepared_data import DataDescription
from warlab.artefacts.run_config import Training
from warlab.common.seeds import derive_seed
from warlab.engine.device import memory_format
from warlab.methods.base import Batch, Method, Samples


class Images:
    """uint8 images (N, C, H, W) kept on the device, handed out as normalised float32."""

    def __init__(self, pixels: np.ndarray, mean: Sequence[float], std: Sequence[float], device: torch.device) -> None:
        self.pixels = torch.from_numpy(pixels).to(device)
        self.mean = torch.tensor(mean, device=device).view(1, -1, 1, 1)
        self.std = torch.tensor(std, device=device).view(1, -1, 1, 1)

    def __len__(self) -> int:
        return len(self.pixels)

    def __getitem__(self, index: Tensor | slice) -> Tensor:
        images = (self.pixels[index].float() / 255 - self.mean) / self.std
        return images.contiguous(memory_format=memory_format(images.device))


@dataclass(frozen=True)
class TrainingData:
    """Images with noisy labels, cut into batches; the only door through which a method sees data."""

    images: Images
    labels: Tensor
    batch_size: int
    seed: int

    def __len__(self) -> int:
        return len(self.images)

    def epoch(self, epoch: int) -> list[Tensor]:
        """The epoch's batches as index tensors: every sample once, in an order that (seed, epoch) decides."""
        generator = np.random.default_rng(derive_seed("order", self.seed, epoch))
        order = torch.from_numpy(generator.permutation(len(self.images)))
        chunks = list(order.split(self.batch_size))
        if len(chunks) > 1 and len(chunks[-1]) == 1:  # batch norm has no statistics of a single sample
            chunks[-2:] = [torch.cat(chunks[-2:])]
        return [chunk.to(self.labels.device) for chunk in chunks]

    def batch(self, index: Tensor) -> Batch:
        return Batch(self.images[index], self.labels[index], index)

    def in_order(self, size: int = 1000) -> Iterator[Batch]:
        """All samples by their number, for estimates over the whole training set."""
        for index in torch.arange(len(self.images), device=self.labels.device).split(size):
            yield self.batch(index)


class Batches(Samples, Protocol):
    """Training samples of any sort, cut into batches."""

    def epoch(self, epoch: int) -> list[Tensor]:
        """What `batch` makes each batch of the epoch from; a function of (seed, epoch)."""


class Evaluation(Protocol):
    """What alone sees clean labels."""

    @property
    def recent(self) -> list[Tensor]:
        """The predicted classes (M, N) of the last evaluations; empty if they are not kept."""

    @recent.setter
    def recent(self, predictions: list[Tensor]) -> None: ...

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
