"""The transition matrix of the noise, T[i, j] = P(noisy = j | true = i), and what Forward and Backward share.

Estimated from a network that was trained on the noisy labels, whose predictions p (N, C) approach P(noisy | x):
the sample that looks most like class i (its anchor) is taken to be truly of class i, so

    T[i] = p(anchor_i),   anchor_i = argmax { p_i(x) : p_i(x) below its 97th percentile }

Patrini et al., Making deep neural networks robust to label noise, 2017, and their code. A network that has memorised
its labels predicts them, and T would be the identity. So, as in that code, p are the predictions for all images by the
network of the epoch with the lowest loss on a tenth of the noisy labels, which it was not trained on. That code
overwrites the discarded predictions, so that later rows may read zeros; here every class uses the original ones.
"""

import logging
import math
from typing import ClassVar

import numpy as np

from warlab.errors import WarlabError
from warlab.losses.forward import ForwardLoss
from warlab.methods._robust import Robust

logger = logging.getLogger(__name__)


class Corrected(Robust):
    """A method that corrects its loss by the estimated transition matrix."""

    robust: ClassVar[type[ForwardLoss]]

    def make_loss(self) -> ForwardLoss:
        if self.task.predictions is None:
            raise WarlabError(
                "A transition matrix needs the predictions of the CCE run of the same cell; train it first."
            )
        transition = estimate(self.task.predictions.double().numpy(), self.config.percentile)
        logger.info(f"condition number of the estimated transition matrix: {np.linalg.cond(transition):.3g}")
        return self.robust(transition)


def estimate(predictions: np.ndarray, percentile: float | None) -> np.ndarray:
    """T (C, C) from predictions (N, C); without a percentile the anchor has the highest score (CIFAR-100)."""
    rows = [predictions[_anchor(predictions[:, i], percentile)] for i in range(predictions.shape[1])]
    matrix = np.stack(rows)
    return matrix / matrix.sum(1, keepdims=True)


def _anchor(scores: np.ndarray, percentile: float | None) -> int:
    """Return the index of the highest score below the percentile (numpy's method "higher"), found by its rank: many
    scores of a certain network are exactly 1, and discarding all of them would leave none of the class."""
    order = scores.argsort(kind="stable")
    if percentile is None:
        return int(order[-1])
    return int(order[max(0, math.ceil(percentile / 100 * (len(scores) - 1)) - 1)])
