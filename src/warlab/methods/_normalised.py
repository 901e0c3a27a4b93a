"""Losses per sample that are combined with each other: logits (B, C), labels (B,) → (B,)."""

import math

from torch import Tensor
from torch.nn.functional import log_softmax

ZERO = 1e-4  # for the zeros of a one-hot label in a logarithm


def label_probability(logits: Tensor, y: Tensor) -> Tensor:
    """p_y"""
    return logits.softmax(1).gather(1, y[:, None])[:, 0]


def normalised_cross_entropy(logits: Tensor, y: Tensor) -> Tensor:
    """NCE = log p_y / sum_c log p_c, in [0, 1]"""
    log_p = log_softmax(logits, 1)
    return log_p.gather(1, y[:, None])[:, 0] / log_p.sum(1)


def reverse_cross_entropy(logits: Tensor, y: Tensor) -> Tensor:
    """RCE = - log(1e-4) (1 - p_y)"""
    return -math.log(ZERO) * (1 - label_probability(logits, y))
