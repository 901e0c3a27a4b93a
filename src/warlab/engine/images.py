"""Images as samples, kept on the device as uint8, and what the training loop needs of samples of any kind.

The order of an epoch is a function of (seed, epoch), so that a resumed run sees the same batches. Only the evaluation
sees clean labels, and nothing of it flows back into training. `tiles` and `stored` are the other kinds of samples.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn

from warlab.artefacts.labelled_data import DataDescription
from warlab.artefacts.run_config import Training
from warlab.common.readings import HELD_OUT, LAST
from warlab.common.seeds import derive_seed
from warlab.engine.device import memory_format
from warlab.methods.base import Batch, Method, Samples, evaluating


class Batches(Samples, Protocol):
    """Training samples of any kind, in batches."""

    def epoch(self, epoch: int) -> list[Tensor]:
        """Return the arguments of `batch` for all batches of an epoch; a function of (seed, epoch)."""


class Evaluation(Protocol):
    """The only part of a training that sees clean labels."""

    recent: list[Tensor]  # the predicted classes (M, N) of the last evaluations; empty if they are not kept

    def __call__(self, method: Method, models: Sequence[nn.Module]) -> dict[str, float]:
        """Return scores on the test set in percent; `test_accuracy` is one of them."""

    def purity(self, selected: Tensor, index: Tensor) -> dict[str, Tensor]:
        """Return the purity of the `selected` samples (M, B) of those with these indices (B,); {} if it is unknown."""


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
    """Return the share of right labels (B,) among the selected samples (M, B) in percent, the mean over networks."""
    right = (selected & trusted).sum(1)
    return {"purity": 100 * (right / selected.sum(1).clamp_min(1)).mean()}


class Images:
    """uint8 images (N, C, H, W) on the device; indexing gives normalised float32."""

    def __init__(self, pixels: np.ndarray, mean: Sequence[float], std: Sequence[float], device: torch.device) -> None:
        self.pixels = torch.from_numpy(pixels).to(device)
        self.normalise = Normalise(mean, std, device)

    def __len__(self) -> int:
        return len(self.pixels)

    def __getitem__(self, index: Tensor | slice) -> Tensor:
        return self.normalise(self.pixels[index])

    def announce(self, batches: Sequence[Tensor]) -> None:
        """Called with the batches of an epoch before they are indexed, so that images on disk can be decoded ahead."""


@dataclass(frozen=True)
class TrainingData:
    """Images with noisy labels in batches: all that a method sees of the data."""

    images: Images
    labels: Tensor
    batch_size: int
    seed: int

    def __len__(self) -> int:
        return len(self.images)

    def epoch(self, epoch: int) -> list[Tensor]:
        """Return the indices of the samples of each batch: every sample once, in an order drawn by (seed, epoch)."""
        generator = np.random.default_rng(derive_seed("order", self.seed, epoch))
        order = torch.from_numpy(generator.permutation(len(self.images)))
        chunks = list(order.split(self.batch_size))
        if len(chunks) > 1 and len(chunks[-1]) == 1:  # batch norm has no statistics of a single sample
            chunks[-2:] = [torch.cat(chunks[-2:])]
        batches = [chunk.to(self.labels.device) for chunk in chunks]
        self.images.announce(batches)
        return batches

    def batch(self, index: Tensor) -> Batch:
        return Batch(self.images[index], self.labels[index], index)

    def ordered_batches(self, size: int = 1000) -> Iterator[Batch]:
        """Return all samples in the order of their indices, for estimates over the whole training set."""
        for index in torch.arange(len(self.images), device=self.labels.device).split(size):
            yield self.batch(index)


class Evaluator:
    """The accuracy on the test set in percent, averaged over the networks that the method reports.

    `trusted` is True for the training samples whose labels are right, or None if that is unknown. `validation` maps
    further columns of the metrics to images and labels. `recent` holds the predicted classes (M, N) of the last ten
    evaluations, so that methods can be compared image by image.
    """

    def __init__(
        self,
        images: Images,
        labels: Tensor,
        trusted: Tensor | None,
        batch_size: int = 500,
        validation: Mapping[str, tuple[Images, Tensor]] | None = None,
    ) -> None:
        self.images, self.labels, self.trusted, self.batch_size = images, labels, trusted, batch_size
        self.validation = validation or {}
        self.recent: list[Tensor] = []

    def __call__(self, method: Method, models: Sequence[nn.Module]) -> dict[str, float]:
        sets = {"test_accuracy": (self.images, self.labels), **self.validation}
        with evaluating(*models):
            predicted = {name: self._classes(method, models, images) for name, (images, _) in sets.items()}
        # Only now, because a run that is stopped while it evaluates will evaluate again.
        test = predicted["test_accuracy"]
        self.recent = [*self.recent, test.to("cpu", torch.int16 if test.max() > 255 else torch.uint8)][-LAST:]
        return {name: 100 * float((predicted[name] == labels).double().mean()) for name, (_, labels) in sets.items()}

    def _classes(self, method: Method, models: Sequence[nn.Module], images: Images) -> Tensor:
        """Return the predicted classes (M, N) of all images."""
        batches = (images[start : start + self.batch_size] for start in range(0, len(images), self.batch_size))
        return torch.cat([method.predict(models, batch).argmax(2) for batch in batches], dim=1)

    def purity(self, selected: Tensor, index: Tensor) -> dict[str, Tensor]:
        return {} if self.trusted is None else purity(selected, self.trusted[index])


def sample_set(run: RunData) -> SampleSet:
    arrays, about, labels = run.arrays, run.about, run.labels

    def images(part: str) -> Images:
        return Images(arrays[f"{part}_x"], about.mean, about.std, labels.device)

    def classes(part: str) -> Tensor:
        return torch.from_numpy(arrays[f"{part}_y"]).to(labels.device).long()

    held = {HELD_OUT: (images("held"), classes("held"))} if "held_x" in arrays else {}
    return SampleSet(
        channels=arrays["train_x"].shape[1],
        data=TrainingData(images("train"), labels, run.training["batch_size"], run.seed),
        evaluate=Evaluator(images("test"), classes("test"), run.trusted, validation=held),
    )
