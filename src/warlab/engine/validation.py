"""A part of the training set that no method sees: its noisy labels choose an epoch, as somebody without clean labels
would have to. With a share of 0, as in the paper, nothing is kept back and nothing is logged."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from warlab.artefacts.prepared_data import DataDescription
from warlab.common.seeds import derive_seed
from warlab.engine.batches import Evaluation, Images
from warlab.engine.evaluate import Evaluator
from warlab.errors import WarlabError
from warlab.methods.base import Method

NOISY, CLEAN = "validation_accuracy", "val_accuracy"  # columns: by noisy labels, by clean ones that come with the data


def training_part(count: int, share: float, seed: int) -> np.ndarray:
    """The numbers of the samples to train on, in their order; (seed, share) decides which others are kept back."""
    back = round(count * share)
    chosen = np.random.default_rng(derive_seed("validation", seed)).permutation(count)[:back]
    return np.setdiff1d(np.arange(count), chosen)


def hold_out(
    data: dict[str, np.ndarray], labels: np.ndarray, trusted: np.ndarray, share: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Labels and trust of the samples to train on; `data` keeps these, and the others as `held_x` and `held_y`."""
    if not share:
        return labels, trusted
    if "train_x" not in data or len(data["train_x"]) != len(labels):
        raise WarlabError("`validation` cuts a split from images in memory; leave it at 0 for tiles and stored images.")
    kept = training_part(len(labels), share, seed)
    back = np.setdiff1d(np.arange(len(labels)), kept)
    if len(back) == 0 or len(kept) < 2:
        raise WarlabError(f"`validation` of {share} leaves {len(kept)} of {len(labels)} samples; choose another share.")
    data |= {"held_x": data["train_x"][back], "held_y": labels[back]}
    data |= {name: data[name][kept] for name in ("train_x", "train_y")}
    return labels[kept], trusted[kept]


def with_held_out(
    test: Evaluation, data: Mapping[str, np.ndarray], about: DataDescription, device: torch.device
) -> Evaluation:
    """The evaluation and the accuracy on the samples that `hold_out` kept back, if there are any."""
    if "held_x" not in data:
        return test
    images = Images(data["held_x"], about.mean, about.std, device)
    noisy = torch.from_numpy(data["held_y"]).to(device).long()
    return WithValidation(test, Evaluator(images, noisy, noisy.bool()), NOISY)


class WithValidation:
    """The test set's numbers and the accuracy on validation images, under the name of its column."""

    def __init__(self, test: Evaluation, validation: Evaluator, column: str) -> None:
        self.test, self.validation, self.column = test, validation, column

    @property
    def recent(self) -> list[Tensor]:
        return self.test.recent

    @recent.setter
    def recent(self, predictions: list[Tensor]) -> None:
        self.test.recent = predictions

    def __call__(self, method: Method, models: Sequence[nn.Module]) -> dict[str, float]:
        found = self.validation(method, models)["test_accuracy"]
        return {**self.test(method, models), self.column: found}

    def purity(self, selected: Tensor, index: Tensor) -> dict[str, Tensor]:
        return self.test.purity(selected, index)
