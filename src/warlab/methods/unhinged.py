"""Unhinged: a loss that is linear in the score of the label, so that symmetric noise only rescales it.

    L = mean_i (1/C) sum_c (1 - y_ic z_c(x_i)) = 1 - mean_i z_{y_i}(x_i) / C        z = batchnorm(f(x)) (B, C)

There is no softmax: a batch norm over the logits, with its affine parameters, keeps the scores from growing for
ever; the class with the highest z is predicted. van Rooyen et al., Learning with symmetric label noise: the
importance of being unhinged, 2015; the batch norm is in the code of Patrini et al., 2017.
"""

from torch import nn

from warlab.losses.unhinged import ScoreNorm, UnhingedLoss
from warlab.methods._robust import Robust


class Algorithm(Robust):
    label = "Unhinged"
    robust = UnhingedLoss

    def extend(self, network: nn.Module) -> nn.Module:
        return nn.Sequential(network, ScoreNorm(self.task.classes))
