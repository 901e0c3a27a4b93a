"""NCE+AGCE: normalised cross entropy and an asymmetric loss, robust while most labels of a class are right.

    L = mean_i ( alpha log p_y / sum_c log p_c + beta ((a + 1)^q - (a + p_y)^q) / q )(x_i)        p (B, C), y = y_i

Zhou et al., Asymmetric loss functions for learning with noisy labels, 2021.
"""

from dataclasses import dataclass

from warlab.common.setting import setting
from warlab.losses.normalised import NCEAGCELoss
from warlab.methods._robust import Robust


@dataclass(frozen=True)
class Config:
    alpha: float = setting(1.0, "baseline's code", minimum=0)  # for CIFAR-10
    beta: float = setting(4.0, "baseline's code", minimum=0)
    a: float = setting(6.0, "baseline's code", above=0)
    q: float = setting(1.5, "baseline's code", above=0, maximum=10)


class Algorithm(Robust):
    label = "NCE+AGCE"
    robust = NCEAGCELoss
