"""Backward: the loss itself is corrected, so that its mean over the noise is the loss under true labels.

    L = - mean_i sum_c (T^-1)[y_i, c] log p_c(x_i)       p (B, C), T (C, C); may be negative

T is estimated from a CCE run of the same cell (`_transition`). With T = I this is CCE.
Patrini et al., Making deep neural networks robust to label noise: a loss correction approach, 2017.
"""

from dataclasses import dataclass

from warlab.common.setting import setting
from warlab.losses.backward import BackwardLoss
from warlab.methods._transition import Corrected


@dataclass(frozen=True)
class Config:
    # of the anchors; null is the plain argmax
    percentile: float | None = setting(97.0, "baseline's code", minimum=0, maximum=100)
    # the CCE network: of the epoch with the lowest loss on a tenth of the noisy labels, or of the last epoch
    transition: str = setting("validation", "baseline's code", choices=("validation", "last"))


class Algorithm(Corrected):
    label = "Backward"
    images_only = True
    needs_run = ("transition", {"validation": "cce_early", "last": "cce"})
    robust = BackwardLoss
