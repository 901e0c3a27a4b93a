"""Instance-dependent noise: which wrong label an image gets, and how likely, depends on the image.

    q_i ~ N(rate, 0.1) within [0, 1],   W (C, d, C) ~ N(0, 1)
    P(label = j | x_i, y_i) = q_i softmax_{j ≠ y_i}( x_i W[y_i] )_j,   P(label = y_i | x_i, y_i) = 1 - q_i

x is the flattened image in [0, 1]. This is the generator in the code of Xia et al., Part-dependent label noise: towards
instance-dependent label noise, 2020 (get_instance_noisy_label), which later work uses.
"""

from collections.abc import Iterator

import numpy as np

from warlab import data as datasets
from warlab.artefacts.labelled_data import NoisyLabels
from warlab.errors import WarlabError
from warlab.ids import NoiseId
from warlab.noise.kinds.base import DataArrays, Files, NoiseKind, NoiseRequest

DEVIATION = 0.1  # of the rates of the images
ROWS = 10_000  # images that are converted to float at once


class InstanceNoise(NoiseKind):
    def check(self, noise: NoiseId, dataset: str) -> None:
        if dataset in datasets.names() and datasets.get(dataset).samples not in ("images", "vectors"):
            raise WarlabError(
                f"The noise {noise} reads samples in memory, and {dataset} has none; choose another noise."
            )

    def make(self, request: NoiseRequest, data: DataArrays, files: Files) -> NoisyLabels:
        self.check(request.id, request.dataset)
        clean, classes, rng = data["train_y"], len(request.class_names), request.rng()
        rates = draw_rates(request.id.rate, len(clean), rng)
        projection = rng.standard_normal((classes, data["train_x"][0].size, classes))
        draws = rng.random(len(clean))
        labels, matrix = np.empty(len(clean), np.int64), np.eye(classes)
        for label in np.unique(clean):
            members = np.flatnonzero(clean == label)
            parts = label_probabilities(data["train_x"], members, rates, projection[label], label)
            p = np.concatenate(list(parts))
            cumulative = np.cumsum(p, axis=1)
            # Exactly 1 from the last possible class on, so that rounding never selects an impossible one.
            labels[members] = (draws[members, None] >= cumulative / cumulative[:, -1:]).sum(axis=1)
            matrix[label] = p.mean(axis=0)
        return self.noisy(request, clean, labels, matrix)


def draw_rates(rate: float, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw a rate for each image from the normal distribution around `rate`, cut off outside [0, 1]; 0 stays 0."""
    from scipy import special  # slow to import, and the plan of every study reads this module

    if rate == 0:
        return np.zeros(n)
    low, high = (special.ndtr((end - rate) / DEVIATION) for end in (0.0, 1.0))
    return rate + DEVIATION * special.ndtri(low + (high - low) * rng.random(n))


def label_probabilities(
    images: np.ndarray, members: np.ndarray, rates: np.ndarray, projection: np.ndarray, label: int
) -> Iterator[np.ndarray]:
    """Yield P(label | x) as (rows, C) for parts of the images with these indices, all of one class."""
    for part in np.array_split(members, -(-len(members) // ROWS)):
        x = images[part].reshape(len(part), -1)
        scores = (x / 255 if images.dtype == np.uint8 else x) @ projection
        scores[:, label] = -np.inf
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        p *= (rates[part] / p.sum(axis=1))[:, None]
        p[:, label] = 1 - rates[part]
        yield p


KIND = InstanceNoise({"instance": "instance-dependent"})
