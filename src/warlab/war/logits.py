"""What a model may return to the losses, and its probabilities: one row per sample, pixel or token."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from warlab.errors import WarlabError

ENOUGH = 4  # rows that look like probabilities are no accident


def logits_of(output: Any) -> Tensor:
    """The output itself if it is a tensor, or the `logits` of an object or dict, as Hugging Face's models return it."""
    logits = output.get("logits") if isinstance(output, Mapping) else getattr(output, "logits", output)
    if isinstance(logits, Tensor):
        return logits
    raise WarlabError(
        f"The model returns {type(output).__name__} without a tensor of logits; pick them with a function, such as "
        "predict=lambda inputs: model(inputs)[0]."
    )


def probabilities(logits: Tensor, class_dim: int = 1) -> Tensor:
    """Softmax over classes; maps (B, C, H, W) become one row per pixel, images (B, C) stay as they are."""
    p = (logits if logits.dtype == torch.float64 else logits.float()).softmax(class_dim)
    return p if p.dim() == 2 else p.movedim(class_dim, -1).reshape(-1, p.shape[class_dim])


def class_axis(logits: Tensor, samples: int, class_dim: int | None) -> int:
    """The axis of the classes; an error if the logits have none, or if there are several candidates.

    A network for maps may give its pixels as rows, image by image: (B · H · W, classes).
    """
    shape = tuple(logits.shape)
    rows_of_pixels = logits.dim() == 2 and len(logits) > 0 and len(logits) % samples == 0
    if logits.dim() < 2 or (len(logits) != samples and not rows_of_pixels):
        raise WarlabError(
            f"The logits have shape {shape} for {samples} inputs; the losses need one row of logits per input, "
            f"({samples}, classes), or maps ({samples}, classes, height, width)."
        )
    if class_dim is None and logits.dim() == 3:
        raise WarlabError(
            f"Logits of shape {shape} may be (batch, classes, length) or (batch, length, classes): give class_dim=1 "
            "or class_dim=2 to the loss."
        )
    dims = logits.dim()
    axis = 1 if class_dim is None else class_dim % dims if -dims <= class_dim < dims else 0
    if axis == 0:
        raise WarlabError(
            f"class_dim={class_dim} is no axis of classes in logits of shape {shape}; the first is the batch."
        )
    if shape[axis] < 2:
        raise WarlabError(
            f"The logits have shape {shape}, a single class; for a binary task give two columns, "
            "such as predict=lambda inputs: torch.cat([0 * (z := model(inputs)), z], 1)."
        )
    return axis


def looks_like_probabilities(logits: Tensor, axis: int) -> bool | None:
    """Whether the rows are probabilities; None if there are too few of them to tell."""
    if logits.numel() < ENOUGH * logits.shape[axis]:
        return None
    values = logits.detach().float()
    return bool((values >= 0).all()) and bool(((values.sum(axis) - 1).abs() < 0.01).all())


def rows_of_mask(mask: Tensor, logits: Tensor, axis: int) -> Tensor:
    """The mask as (rows,), one entry per row of `probabilities`."""
    expected = tuple(size for k, size in enumerate(logits.shape) if k != axis)
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool or tuple(mask.shape) != expected:
        actual = f"{tuple(mask.shape)} of {mask.dtype}" if isinstance(mask, Tensor) else type(mask).__name__
        raise WarlabError(
            f"The mask must be a tensor of booleans of shape {expected}, True where a label counts, such as "
            f"labels != ignore_index; it is {actual}."
        )
    return mask.reshape(-1).to(logits.device)


@dataclass(frozen=True)
class Rows:
    """From outputs to rows of probabilities, and from one value per row to one per sample and to the mean."""

    samples: int
    class_dim: int | None
    mask: Tensor | None

    def probabilities(self, output: Any) -> Tensor:
        logits = logits_of(output)
        return probabilities(logits, class_axis(logits, self.samples, self.class_dim))

    def per_sample(self, values: Tensor) -> Tensor:
        """The mean over the pixels or tokens of a sample, if it has any."""
        if self.mask is None:
            return values.view(self.samples, -1).mean(1)
        counts = self.mask.view(self.samples, -1).sum(1).clamp_min(1)
        return values.where(self.mask, 0.0).view(self.samples, -1).sum(1) / counts

    def mean(self, values: Tensor) -> Tensor:
        if self.mask is None:
            return values.mean()
        return values.where(self.mask, 0.0).sum() / self.mask.sum().clamp_min(1)
