"""What a model may hand to the losses, and its probabilities: one row per sample, pixel or token."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from warlab.errors import WarlabError

ENOUGH = 4  # rows: so many that look like probabilities are no accident


def logits_of(output: Any) -> Tensor:
    """A tensor as it is; of an object or dict of a model, as Hugging Face's models return it, its logits."""
    found = output.get("logits") if isinstance(output, Mapping) else getattr(output, "logits", output)
    if isinstance(found, Tensor):
        return found
    raise WarlabError(
        f"The model returns {type(output).__name__} without a tensor of logits; pick them with a function, such as "
        "predict=lambda inputs: model(inputs)[0]."
    )


def probabilities(logits: Tensor, class_dim: int = 1) -> Tensor:
    """Softmax over classes; maps (B, C, H, W) become one row per pixel, images (B, C) stay as they are."""
    p = (logits if logits.dtype == torch.float64 else logits.float()).softmax(class_dim)
    return p if p.dim() == 2 else p.movedim(class_dim, -1).reshape(-1, p.shape[class_dim])


def class_axis(logits: Tensor, samples: int, told: int | None) -> int:
    """The axis of the classes; one sentence for logits that have none, or more than one that it might be.

    A network for maps may give its pixels as rows, image by image: (B · H · W, classes).
    """
    shape = tuple(logits.shape)
    rows_of_pixels = logits.dim() == 2 and len(logits) > 0 and len(logits) % samples == 0
    if logits.dim() < 2 or (len(logits) != samples and not rows_of_pixels):
        raise WarlabError(
            f"The logits have shape {shape} for {samples} inputs; the losses need one row of logits per input, "
            f"({samples}, classes), or maps ({samples}, classes, height, width)."
        )
    if told is None and logits.dim() == 3:
        raise WarlabError(
            f"Logits of shape {shape} may be (batch, classes, length) or (batch, length, classes): give class_dim=1 "
            "or class_dim=2 to the loss."
        )
    axis = 1 if told is None else told % logits.dim() if -logits.dim() <= told < logits.dim() else 0
    if axis == 0:
        raise WarlabError(f"class_dim={told} is no axis of classes in logits of shape {shape}; the first is the batch.")
    if shape[axis] < 2:
        raise WarlabError(
            f"The logits have shape {shape}, a single class; for a binary task give two columns, "
            "such as predict=lambda inputs: torch.cat([0 * (z := model(inputs)), z], 1)."
        )
    return axis


def looks_like_probabilities(logits: Tensor, axis: int) -> bool | None:
    """None where there are too few rows to tell."""
    if logits.numel() < ENOUGH * logits.shape[axis]:
        return None
    values = logits.detach().float()
    return bool((values >= 0).all()) and bool(((values.sum(axis) - 1).abs() < 0.01).all())


def rows_of_mask(mask: Tensor, logits: Tensor, axis: int) -> Tensor:
    """The mask as (rows,), one entry per row of `probabilities`."""
    expected = tuple(size for k, size in enumerate(logits.shape) if k != axis)
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool or tuple(mask.shape) != expected:
        told = f"{tuple(mask.shape)} of {mask.dtype}" if isinstance(mask, Tensor) else type(mask).__name__
        raise WarlabError(
            f"The mask must be a tensor of booleans of shape {expected}, True where a label counts, such as "
            f"labels != ignore_index; it is {told}."
        )
    return mask.reshape(-1).to(logits.device)


def kl_divergence(p: Tensor, q: Tensor) -> Tensor:
    """KL(p || q) per row, finite where a probability has underflowed to zero."""
    tiny = torch.finfo(p.dtype).tiny
    return (p * (p.clamp_min(tiny).log() - q.clamp_min(tiny).log())).sum(1)
