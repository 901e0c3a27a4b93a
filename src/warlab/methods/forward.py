"""Forward: the loss compares the noisy labels with the predictions after the noise.

    L = - mean_i log ( sum_c p_c(x_i) T[c, y_i] )        p (B, C), T (C, C)

T is estimated from the CCE run of the same cell. With T = I this is CCE.
Patrini et al., Making deep neural networks robust to label noise: a loss correction approach, 2017.
"""

from dataclasses import dataclass

from torch.nn.functional import nll_loss

from warlab.common.setting import setting
from warlab.methods._probabilities import EPSILON, clipped_softmax
from warlab.methods._transition import Corrected
from warlab.methods.base import Batch, Log, Losses, Models, Step


@dataclass(frozen=True)
class Config:
    # of the anchors; null is the plain argmax
    percentile: float | None = setting(97.0, "baseline's code", minimum=0, maximum=100)


class Algorithm(Corrected):
    label = "Forward"
    needs_run = "cce"

    def loss(self, models: Models, batch: Batch, step: Step) -> tuple[Losses, Log]:
        noisy = clipped_softmax(models[0](batch.x)) @ self.matrix
        return nll_loss(noisy.clamp_min(EPSILON).log(), batch.y), {}
