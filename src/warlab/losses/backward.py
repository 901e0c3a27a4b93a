"""Backward: the loss corrected by the inverse of the transition matrix of the noise."""

import logging
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from warlab.losses.forward import ForwardLoss
from warlab.losses.probabilities import clipped_softmax

logger = logging.getLogger(__name__)
WORST_CONDITION = 1e3  # our choice: beyond it, T^-1 magnifies errors of the estimate a thousandfold


@dataclass(eq=False, repr=False)
class BackwardLoss(ForwardLoss):
    r"""Backward correction: the mean of the loss over the noise is the cross entropy with true labels.

    .. math:: L(p, y) = - \sum_c (T^{-1})_{y c} \log p_c

    It may be negative, and its variance grows with the condition number of T; above 1000 the pseudo-inverse without
    the smallest singular values takes the place of the inverse.

    Parameters
    ----------
    transition : Tensor or array (C, C)
        T[i, j] is the probability that a sample of class i was labelled j; its rows sum to 1. With the identity it is
        the cross entropy.
    reduction : "mean" or "none"
        The mean over the batch, or one value per label. Default "mean".

    Examples
    --------
    >>> import torch
    >>> from warlab.losses import BackwardLoss
    >>> logits, labels = torch.tensor([[0.5, 0.5]]).log(), torch.tensor([1])
    >>> round(BackwardLoss([[0.8, 0.2], [0.2, 0.8]])(logits, labels).item(), 4)  # rows of the inverse sum to 1
    0.6931

    References
    ----------
    Patrini, Rozza, Menon, Nock, Qu: Making deep neural networks robust to label noise: a loss correction approach,
    2017.
    """

    def correct(self, transition: np.ndarray) -> np.ndarray:
        return inverse(transition)

    def compute(self, logits: Tensor, labels: Tensor) -> Tensor:
        log_p = clipped_softmax(logits).log()
        # `matrix[labels]` would take the last row for the label -1.
        return self.reduce(-(self.matrix_for(logits).index_select(0, labels) * log_p).sum(1))


def inverse(transition: np.ndarray) -> np.ndarray:
    """T^-1, or for a nearly singular T the pseudo-inverse without the smallest singular values."""
    if np.linalg.cond(transition) <= WORST_CONDITION:
        return np.linalg.inv(transition)
    logger.info("the transition matrix is nearly singular: Backward uses its pseudo-inverse")
    return np.linalg.pinv(transition, rcond=1 / WORST_CONDITION)
