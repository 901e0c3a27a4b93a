"""Backward: the loss itself is corrected, so that its mean over the noise is the loss under true labels.

    L = - mean_i sum_c (T^-1)[y_i, c] log p_c(x_i)       p (B, C), T (C, C); may be negative

T is estimated from the CCE run of the same cell. With T = I this is CCE.
Patrini et al., Making deep neural networks robust to label noise: a loss correction approach, 2017.
"""

import logging
from dataclasses import dataclass

import numpy as np

from warlab.common.setting import setting
from warlab.methods._probabilities import clipped_softmax
from warlab.methods._transition import Corrected
from warlab.methods.base import Batch, Log, Losses, Models, Step

logger = logging.getLogger(__name__)
WORST_CONDITION = 1e3  # our choice: beyond it, T^-1 magnifies errors of the estimate a thousandfold


@dataclass(frozen=True)
class Config:
    # of the anchors; null is the plain argmax
    percentile: float | None = setting(97.0, "baseline's code", minimum=0, maximum=100)


def inverse(transition: np.ndarray) -> np.ndarray:
    """T^-1, or for a nearly singular T the pseudo-inverse without the smallest singular values."""
    if np.linalg.cond(transition) <= WORST_CONDITION:
        return np.linalg.inv(transition)
    logger.info("the estimated transition matrix is nearly singular: Backward uses its pseudo-inverse")
    return np.linalg.pinv(transition, rcond=1 / WORST_CONDITION)


class Algorithm(Corrected):
    label = "Backward"
    needs_run = "cce"

    def correction(self, transition: np.ndarray) -> np.ndarray:
        return inverse(transition)

    def loss(self, models: Models, batch: Batch, step: Step) -> tuple[Losses, Log]:
        log_p = clipped_softmax(models[0](batch.x)).log()
        return -(self.matrix[batch.y] * log_p).sum(1).mean(), {}
