"""Instance-dependent noise: which wrong label an image gets, and how likely, depends on the image.

    q_i ~ N(rate, 0.1) within [0, 1],   W (C, d, C) ~ N(0, 1)
    P(label = j | x_i, y_i) = q_i softmax_{j ≠ y_i}( x_i W[y_i] )_j,   P(label = y_i | x_i, y_i) = 1 - q_i

x is the flattened image in [0, 1], or the vector as it is. This is the generator in the code of Xia et al.,
Part-dependent label noise: towards instance-dependent label noise, 2020 (get_instance_noisy_label), which later work
uses.
"""

from collections.abc import Iterator

import numpy as np

from warlab.noise.kinds._per_sample import PerSampleNoise, Probabilities
from warlab.noise.kinds.base import DataArrays, NoiseRequest

DEVIATION = 0.1  # of the rates of the images
ROWS = 10_000  # images that are converted to float at once


class InstanceNoise(PerSampleNoise):
    def probabilities(self, request: NoiseRequest, data: DataArrays, rng: np.random.Generator) -> Probabilities:
        images, classes = data["train_x"], len(request.class_names)
        rates = draw_rates(request.id.rate, len(images), rng)
        projection = rng.standard_normal((classes, images[0].size, classes))

        def of_class(members: np.ndarray, label: int) -> np.ndarray:
            return np.concatenate(list(label_probabilities(images, members, rates, projection[label], label)))

        return of_class


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
