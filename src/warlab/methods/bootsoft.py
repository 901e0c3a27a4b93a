"""Bootsoft: the target is a mixture of the label and the network's own prediction.

    L = - mean_i sum_c ( b y_ic + (1 - b) p_c(x_i) ) log p_c(x_i)        p (B, C)

The gradient flows through both p, as in the code of Patrini et al., 2017. With b = 1 this is CCE.
Reed et al., Training deep neural networks on noisy labels with bootstrapping, 2015.
"""

from dataclasses import dataclass

from warlab.common.setting import setting
from warlab.losses.bootstrapping import BootstrappingLoss
from warlab.methods._robust import Robust


@dataclass(frozen=True)
class Config:
    b: float = setting(0.95, "baseline's code", minimum=0, maximum=1)  # share of the label in the target


class Algorithm(Robust):
    label = "Bootsoft"
    robust = BootstrappingLoss
