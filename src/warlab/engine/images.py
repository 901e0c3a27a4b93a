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
from torch.nn.functional import cross_entropy

from warlab.artefacts.labelled_data import DataDescription
from warlab.artefacts.run_config import Training
from warlab.common.readings import HELD_OUT, LAST
from warlab.common.seeds import derive_seed
from warlab.engine.device import memory_format
from warlab.methods.base import Batch, Method, Samples, evaluating

MOST_WRONG = 1000  # samples with wrong labels on which memorisation is measured: a standard error of 1.6 points at most


class Batches(Samples, Protocol):
    """Training samples of any kind, in batches."""

    def epoch(self, epoch: int) -> list[Tensor]:
        """Return the arguments of `batch` for all batches of an epoch; a function of (seed, epoch)."""


class Evaluation(Protocol):
    """The only part of a training that sees clean labels."""

    wrong: "WrongLabels"
    recent: list[Tensor]  # the predicted classes (M, N) of the last evaluations; empty if they are not kept

    def __call__(self, method: Method, models: Sequence[nn.Module]) -> dict[str, float]:
        """Return scores on the test set in percent; `test_accuracy` is one of them."""


@dataclass(frozen=True)
class RunData:
    """What each kind of samples is built from. `labels` are noisy, `trusted` is True where a label is right."""

    arrays: Mapping[str, np.ndarray]
    about: DataDescription
    labels: Tensor
    trusted: Tensor
    training: Training
    seed: int

    @property
    def checked(self) -> Tensor | None:
        """Return `trusted`; None if no label is known to be wrong, as of your own data: nobody has checked them."""
        return None if bool(self.trusted.all()) else self.trusted


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


def confusion(truth: np.ndarray, predicted: np.ndarray, classes: int) -> np.ndarray:
    """Return counts (C, C): row = true class, column = predicted class."""
    pairs = truth.reshape(-1).astype(np.int64) * classes + predicted.reshape(-1)
    return np.bincount(pairs, minlength=classes**2).reshape(classes, classes)


def recall(counts: np.ndarray) -> dict[str, float]:
    """Return the recall of each class in percent, the mean over networks, from their confusions (M, C, C). A class
    without test samples has none."""
    right, total = counts.diagonal(axis1=1, axis2=2).mean(0), counts[0].sum(1)
    return {f"recall_{k}": float(100 * right[k] / total[k]) for k in np.flatnonzero(total)}


PURITY = "purity"


@dataclass(frozen=True)
class WrongLabels:
    """Measures the share of wrong training labels that the networks reproduce, in evaluation mode.

    Evaluation mode, because dropout changes the predictions of training passes, and methods and networks with more of
    it would seem to memorise less. `batches` are fixed for a run and small, since this is an extra forward pass; of
    their samples only those count whose labels are wrong. A label is wrong if it differs from the true one, or if the
    noise has put an image of another dataset in its place.
    """

    samples: Samples
    batches: Sequence[Tensor] = ()
    trusted: Tensor | None = None  # True where a label is right; None if that is unknown

    def memorised(self, method: Method, models: Sequence[nn.Module]) -> dict[str, float]:
        """Return the share in percent, averaged over the networks; {} if no label is known to be wrong."""
        right, total = 0.0, 0
        for index in self.batches:
            batch = self.samples.batch(index)
            if self.trusted is None or not (wrong := ~self.trusted[batch.index]).any():
                continue
            hits = (method.predict(models, batch.x).argmax(2) == batch.y) & wrong
            right, total = right + float(hits.sum(1).double().mean()), total + int(wrong.sum())
        return {"memorised": 100 * right / total} if total else {}

    def purity(self, selected: Tensor, index: Tensor) -> dict[str, Tensor]:
        """Return the share of right labels among the `selected` samples (M, B) of those with these indices (B,), in
        percent, averaged over the networks that select any, NaN if none does; {} if it is unknown."""
        if self.trusted is None:
            return {}
        right = (selected & self.trusted[index]).sum(1)
        return {PURITY: 100 * (right / selected.sum(1)).nanmean()}


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


class Vectors(Images):
    """float32 values (N, …) on the device, which are used as they are."""

    def __init__(self, values: np.ndarray, device: torch.device) -> None:
        self.pixels = torch.from_numpy(values).to(device)

    def __getitem__(self, index: Tensor | slice) -> Tensor:
        return self.pixels[index]


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
    """The accuracy on the test set in percent, averaged over the networks that the method reports, the recall of each
    class, and the share of wrong training labels that are memorised.

    `wrong` has the samples whose labels are wrong, if they are known. `validation` maps columns of accuracies to images
    and labels; their loss is also a column, because it chooses an epoch better than the accuracy. `recent` holds the
    predicted classes (M, N) of the last ten evaluations, so that methods can be compared image by image.
    """

    def __init__(
        self,
        images: Images,
        labels: Tensor,
        wrong: WrongLabels,
        batch_size: int = 500,
        validation: Mapping[str, tuple[Images, Tensor]] | None = None,
    ) -> None:
        self.images, self.labels, self.wrong, self.batch_size = images, labels, wrong, batch_size
        self.validation = validation or {}
        self.recent: list[Tensor] = []

    def __call__(self, method: Method, models: Sequence[nn.Module]) -> dict[str, float]:
        sets = {"test_accuracy": (self.images, self.labels), **self.validation}
        with evaluating(*models):
            scores = {name: self._scores(method, models, images) for name, (images, _) in sets.items()}
            memorised = self.wrong.memorised(method, models)
        predicted = {name: one.argmax(2) for name, one in scores.items()}
        # Only now, because a run that is stopped while it evaluates will evaluate again.
        test = predicted["test_accuracy"]
        self.recent = [*self.recent, test.to("cpu", torch.int16 if test.max() > 255 else torch.uint8)][-LAST:]
        accuracies = {name: 100 * float((predicted[name] == y).double().mean()) for name, (_, y) in sets.items()}
        losses = {
            name.replace("accuracy", "loss"): float(torch.stack([cross_entropy(one, y) for one in scores[name]]).mean())
            for name, (_, y) in self.validation.items()
        }
        truth, classes = self.labels.cpu().numpy(), scores["test_accuracy"].shape[2]
        counts = np.stack([confusion(truth, one, classes) for one in test.cpu().numpy()])
        return accuracies | losses | memorised | recall(counts)

    def _scores(self, method: Method, models: Sequence[nn.Module], images: Images) -> Tensor:
        """Return the class scores (M, N, C) of all images."""
        batches = (images[start : start + self.batch_size] for start in range(0, len(images), self.batch_size))
        return torch.cat([method.predict(models, batch) for batch in batches], dim=1)


def sample_set(run: RunData) -> SampleSet:
    arrays, about, labels = run.arrays, run.about, run.labels

    def images(part: str) -> Images:
        if about.samples == "vectors":
            return Vectors(arrays[f"{part}_x"], labels.device)
        return Images(arrays[f"{part}_x"], about.mean, about.std, labels.device)

    def classes(part: str) -> Tensor:
        return torch.from_numpy(arrays[f"{part}_y"]).to(labels.device).long()

    held = {HELD_OUT: (images("held"), classes("held"))} if "held_x" in arrays else {}
    data = TrainingData(images("train"), labels, run.training["batch_size"], run.seed)
    wrong = WrongLabels(data, draw_wrong(run).split(500), run.checked)
    return SampleSet(
        channels=arrays["train_x"].shape[1],
        data=data,
        evaluate=Evaluator(images("test"), classes("test"), wrong, validation=held),
    )


def draw_wrong(run: RunData) -> Tensor:
    """Return the indices of the samples with wrong labels, or of MOST_WRONG of them, drawn by the seed."""
    wrong = (~run.trusted).nonzero()[:, 0].cpu()
    drawn = np.random.default_rng(derive_seed("memorised", run.seed)).permutation(len(wrong))[:MOST_WRONG]
    return wrong[np.sort(drawn)].to(run.labels.device)
