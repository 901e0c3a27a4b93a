"""Probabilities and cross entropies that robust losses are made of: logits (B, C) → one row per sample."""

import torch
from torch import Tensor
from torch.nn.functional import log_softmax, one_hot

EPSILON = 1e-7  # the epsilon of Keras, in which Forward, Backward, Bootsoft and D2L were written


def clipped_softmax(logits: Tensor) -> Tensor:
    """softmax, kept inside [1e-7, 1 - 1e-7]: (B, C)"""
    return logits.softmax(1).clamp(EPSILON, 1 - EPSILON)


def label_probability(logits: Tensor, labels: Tensor) -> Tensor:
    """p_y: (B,)"""
    return logits.softmax(1).gather(1, labels[:, None])[:, 0]


def soft_cross_entropy(logits: Tensor, target: Tensor) -> Tensor:
    """- sum_c target_c log p_c for targets (B, C) that are distributions: (B,)"""
    return -(target * log_softmax(logits, 1)).sum(1)


def entropy(logits: Tensor) -> Tensor:
    """H(p) = - sum_c p_c log p_c: (B,)"""
    return soft_cross_entropy(logits, logits.softmax(1))


def to_one_hot(labels: Tensor, classes: int) -> Tensor:
    """One-hot rows (…, C) in float."""
    return one_hot(labels, classes).to(torch.get_default_dtype())
