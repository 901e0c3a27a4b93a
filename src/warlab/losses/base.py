"""What the robust losses share: they are called as torch's cross entropy, and check what they are given."""

import math
import numbers
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn

from warlab.common.labels import check_labels, describe
from warlab.errors import WarlabError

Reduction = Literal["mean", "none"]


@dataclass(eq=False, repr=False, kw_only=True)
class RobustLoss(nn.Module, ABC):
    """A loss on logits and labels. A subclass defines `compute` and declares its settings as fields.

    Parameters
    ----------
    reduction : "mean" or "none"
        The mean over the batch, or one value per label. Default "mean".
    """

    reduction: Reduction = "mean"

    def __post_init__(self) -> None:
        super().__init__()
        self.check("reduction", self.reduction in get_args(Reduction), '"mean" or "none"')

    @abstractmethod
    def compute(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Return the reduced loss of logits (N, C) and labels (N,)."""

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Return the loss.

        Parameters
        ----------
        logits : Tensor (B, C) or (B, C, H, W), ...
            The model's output, before any softmax; computed in float32 at least.
        labels : Tensor of integers, (B,) or (B, H, W), ...
            The given labels, some of which may be wrong.

        Returns
        -------
        Tensor ()
            The mean, or with reduction "none" a tensor shaped as the labels.
        """
        rows, targets = to_rows(logits, labels)
        with torch.autocast(rows.device.type, enabled=False):  # it would round the product of Forward
            value = self.compute(rows, targets)
        return value.view(labels.shape) if self.reduction == "none" else value

    def reduce(self, values: Tensor) -> Tensor:
        return values.mean() if self.reduction == "mean" else values

    def check(self, name: str, allowed: bool, rule: str) -> None:
        if not allowed:
            raise WarlabError(f"{type(self).__name__}: {name} must be {rule}, not {getattr(self, name)!r}.")

    def check_numbers(
        self, *names: str, rule: str, above: float = -math.inf, least: float = -math.inf, most: float = math.inf
    ) -> None:
        for name in names:
            value = getattr(self, name)
            number = isinstance(value, numbers.Real) and math.isfinite(value)
            self.check(name, number and above < value and least <= value <= most, rule)

    def extra_repr(self) -> str:
        values = {field.name: getattr(self, field.name) for field in fields(self) if hasattr(self, field.name)}
        return ", ".join(f"{name}={value!r}" for name, value in values.items() if not isinstance(value, Tensor))


def to_rows(logits: Any, labels: Any) -> tuple[Tensor, Tensor]:
    """Return logits (N, C) in float32 at least and labels (N,); maps (B, C, H, W) become one row per pixel."""
    if not isinstance(logits, Tensor) or not logits.is_floating_point() or logits.dim() < 2 or logits.shape[1] < 2:
        raise WarlabError(
            f"The logits are {describe(logits)}; give the model's output, (batch, classes), with two classes or more."
        )
    rows = check_labels(labels, (len(logits), *logits.shape[2:]), logits.shape[1])
    logits = logits.float() if logits.element_size() < 4 else logits
    if logits.dim() > 2:
        logits = logits.movedim(1, -1).reshape(-1, logits.shape[1])
    return logits, rows
