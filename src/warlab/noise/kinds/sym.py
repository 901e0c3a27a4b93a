"""Symmetric noise: every other class is equally likely."""

import numpy as np

from warlab.noise.kinds._matrix import MatrixNoise


def matrix(rate: float, dataset: str, n_classes: int) -> np.ndarray:
    """Every other class with probability rate / (C - 1)."""
    matrix = np.full((n_classes, n_classes), rate / (n_classes - 1))
    np.fill_diagonal(matrix, 1 - rate)
    return matrix


KIND = MatrixNoise({"sym": "symmetric"}, matrix=matrix)
