"""GCE: generalised cross entropy, plain and truncated."""

from dataclasses import dataclass

import torch
from torch import Tensor

from warlab.common.labels import describe
from warlab.errors import WarlabError
from warlab.losses.base import RobustLoss, to_rows
from warlab.losses.probabilities import EPSILON, label_probability


@dataclass(eq=False, repr=False)
class GCELoss(RobustLoss):
    r"""Generalised cross entropy: between cross entropy (q → 0) and the mean absolute error (q = 1).

    .. math:: L(p, y) = L_q(p_y), \qquad L_q(u) = \frac{1 - u^q}{q}

    With a truncation k, labels that are less probable than k have no gradient:

    .. math:: L(p, y) = w \, (L_q(p_y) - L_q(k)), \qquad w = 1 \text{ where } p_y > k, \text{ else } 0

    Parameters
    ----------
    q : float
        Above 0 and at most 1. Default 0.7: the authors.
    truncation : float, optional
        The k above, from 0 to 1; the authors use 0.5, after an untruncated first part of the training: at the start
        all probabilities are below it. Default: no truncation.
    reduction : "mean" or "none"
        The mean over the batch, or one value per label. Default "mean".

    Examples
    --------
    >>> import torch
    >>> from warlab.losses import GCELoss
    >>> loss = GCELoss(q=1.0)  # the mean absolute error: 1 - p_y
    >>> round(loss(torch.tensor([[0.5, 0.3, 0.2]]).log(), torch.tensor([1])).item(), 4)
    0.7

    References
    ----------
    Zhang, Sabuncu: Generalized cross entropy loss for training deep neural networks with noisy labels, 2018.
    """

    q: float = 0.7
    truncation: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_numbers("q", rule="above 0 and at most 1", above=0, most=1)
        if self.truncation is not None:
            self.check_numbers("truncation", rule="from 0 to 1, or None", least=0, most=1)

    def compute(self, logits: Tensor, labels: Tensor) -> Tensor:
        p = clipped_probability(logits, labels)
        return self.reduce(self.values(p, None if self.truncation is None else p.detach() > self.truncation))

    def masked(self, logits: Tensor, labels: Tensor, kept: Tensor) -> Tensor:
        """Return the truncated loss with a mask w that was computed before, shaped as the labels: the authors compute
        it every few epochs, with the network of that time."""
        self.check("truncation", self.truncation is not None, "a number for the truncated loss")
        if kept.shape != labels.shape or kept.dtype != torch.bool:
            raise WarlabError(f"The mask is {describe(kept)}; give booleans shaped as the labels, {describe(labels)}.")
        rows, targets = to_rows(logits, labels)
        value = self.reduce(self.values(clipped_probability(rows, targets), kept.reshape(-1)))
        return value.view(labels.shape) if self.reduction == "none" else value

    def values(self, p: Tensor, kept: Tensor | None) -> Tensor:
        values = (1 - p**self.q) / self.q
        if kept is None or self.truncation is None:
            return values
        return kept * (values - (1 - self.truncation**self.q) / self.q)


def clipped_probability(logits: Tensor, labels: Tensor) -> Tensor:
    """p_y (B,), not below 1e-7: the gradient of p^q is infinite at zero."""
    return label_probability(logits, labels).clamp_min(EPSILON)
