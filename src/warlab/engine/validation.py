"""A part of the training set that no method sees: its noisy labels choose an epoch, as somebody without clean labels
would have to. With a share of 0, as in the paper, nothing is kept back and nothing is logged."""

import numpy as np

from warlab.artefacts.run_config import RunConfig
from warlab.audit.record import Means
from warlab.common.seeds import derive_seed
from warlab.errors import WarlabError


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


def of_all_samples(means: Means, run: RunConfig, total: int) -> Means:
    """The record of the labels by the numbers of all `total` samples, of which those kept back were never seen."""
    share = run.training.get("validation", 0.0)
    return means.among(training_part(total, share, run.seed), total) if share else means
