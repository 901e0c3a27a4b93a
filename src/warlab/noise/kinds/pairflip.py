"""Pair flips: class i becomes i + 1, the last becomes the first (Han et al., 2018)."""

import numpy as np

from warlab.noise.kinds._matrix import MatrixNoise


def matrix(rate: float, dataset: str, n_classes: int) -> np.ndarray:
    return (1 - rate) * np.eye(n_classes) + rate * np.roll(np.eye(n_classes), 1, axis=1)


KIND = MatrixNoise({"pairflip": "pairflip"}, matrix=matrix)
