"""Procedural images for stand-ins: a smooth pattern for each class; the patterns of a group of classes are similar."""

from collections.abc import Sequence

import numpy as np

from warlab.common.seeds import derive_seed

_COARSE = 4  # a pattern has 4 × 4 random values, smoothly interpolated


def draw(labels: np.ndarray, groups: Sequence[object], name: str, rng: np.random.Generator, side: int) -> np.ndarray:
    """uint8 (N, 3, side, side): class k has the pattern of groups[k] plus a pattern of its own.

    `name` decides the patterns and `rng` the single images, so that training and test images have the same classes.
    """
    common = {group: _pattern(side, name, "group", group) for group in dict.fromkeys(groups)}
    patterns = np.stack([0.6 * common[g] + 0.4 * _pattern(side, name, "class", k) for k, g in enumerate(groups)])
    images = np.empty((len(labels), 3, side, side), np.uint8)
    for i, label in enumerate(labels):
        shown = np.roll(patterns[label], rng.integers(-3, 4, 2), axis=(1, 2)) + _smooth(rng, side)
        images[i] = (128 + rng.uniform(25, 50) * shown + rng.normal(0, 20, shown.shape)).clip(0, 255).round()
    return images


def _pattern(side: int, *seed: object) -> np.ndarray:
    return _smooth(np.random.default_rng(derive_seed("pattern", *seed)), side)


def _smooth(rng: np.random.Generator, side: int) -> np.ndarray:
    """Return a smooth random image (3, side, side) with mean 0 and standard deviation 1."""
    place = np.linspace(0, _COARSE - 1, side)
    weights = np.maximum(0, 1 - abs(place[:, None] - np.arange(_COARSE)))
    smooth = weights @ rng.normal(size=(3, _COARSE, _COARSE)) @ weights.T
    return (smooth - smooth.mean()) / smooth.std()


def shuffled_labels(n: int, classes: int, rng: np.random.Generator) -> np.ndarray:
    return rng.permutation(np.arange(n) % classes)


def mistaken(labels: np.ndarray, classes: int, rate: float, rng: np.random.Generator) -> np.ndarray:
    """Return the labels with about a share of `rate` replaced by wrong ones."""
    wrong = (labels + rng.integers(1, classes, len(labels))) % classes
    return np.where(rng.random(len(labels)) < rate, wrong, labels)
