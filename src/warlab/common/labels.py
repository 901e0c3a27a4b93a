"""Checks of logits and of the labels that belong to them."""

from typing import Any

import torch
from torch import Tensor

from warlab.errors import WarlabError

ENOUGH = 4  # rows that look like probabilities are no accident


def check_labels(labels: Any, expected: tuple[int, ...], classes: int, mask: Tensor | None = None) -> Tensor:
    """Return the labels as (rows,) of int64, with 0 where the mask is False; an error if they do not fit.

    `expected` is their shape. On a GPU the numbers are not looked at, which would make it wait.
    """
    if not isinstance(labels, Tensor) or labels.is_floating_point() or tuple(labels.shape) != expected:
        raise WarlabError(
            f"The labels are {describe(labels)}; give class numbers of shape {expected}, not one-hot rows or logits."
        )
    rows = labels.reshape(-1).long()
    if mask is not None:
        rows = rows.where(mask.to(rows.device), 0)
    if rows.device.type != "cpu" or torch.compiler.is_compiling() or not len(rows):
        return rows
    least, most = int(rows.min()), int(rows.max())
    if least < 0 or most >= classes:
        raise WarlabError(
            f"The labels go from {least} to {most}; for {classes} classes give numbers from 0 to {classes - 1}, and "
            "leave out what has no label, such as loss(logits[known], labels[known])."
        )
    return rows


def describe(given: Any) -> str:
    return f"{given.dtype} of shape {tuple(given.shape)}" if isinstance(given, Tensor) else f"a {type(given).__name__}"


def looks_like_probabilities(logits: Tensor, axis: int = 1) -> bool | None:
    """Return whether the rows are probabilities; None if there are too few of them to tell."""
    if logits.numel() < ENOUGH * logits.shape[axis]:
        return None
    values = logits.detach().float()
    return bool((values >= 0).all()) and bool(((values.sum(axis) - 1).abs() < 0.01).all())
