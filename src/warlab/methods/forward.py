"""Forward: the loss compares the noisy labels with the predictions after the noise.

    L = - mean_i log ( sum_c p_c(x_i) T[c, y_i] )        p (B, C), T (C, C)

T is estimated from a CCE run of the same cell (`_transition`). With T = I this is CCE.
Patrini et al., Making deep neural networks robust to label noise: a loss correction approach, 2017.
"""

from dataclasses import dataclass

from warlab.common.setting import setting
from warlab.losses.forward import ForwardLoss
from warlab.methods._transition import Corrected


@dataclass(frozen=True)
class Config:
    # of the anchors; null is the plain argmax
    percentile: float | None = setting(97.0, "baseline's code", minimum=0, maximum=100)
    # the CCE network: of the epoch with the lowest loss on a tenth of the noisy labels, or of the last epoch
    transition: str = setting("validation", "baseline's code", choices=("validation", "last"))


class Algorithm(Corrected):
    label = "Forward"
    images_only = True
    needs_run = ("transition", {"validation": "cce_early", "last": "cce"})
    robust = ForwardLoss
