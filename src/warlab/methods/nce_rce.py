"""NCE+RCE: an active loss, which asks for the label, and a passive one, which asks against all other classes.

    L = mean_i ( alpha log p_y / sum_c log p_c - beta log(1e-4) (1 - p_y) )(x_i)        p (B, C), y = y_i

Each term is robust to symmetric noise; together they also learn. Ma et al., Normalized loss functions for deep learning
with noisy labels, 2020.
"""

from dataclasses import dataclass

from warlab.common.setting import setting
from warlab.losses.normalised import NCERCELoss
from warlab.methods._robust import Robust


@dataclass(frozen=True)
class Config:
    alpha: float = setting(1.0, "baseline's code", minimum=0)  # for CIFAR-10
    beta: float = setting(1.0, "baseline's code", minimum=0)


class Algorithm(Robust):
    label = "NCE+RCE"
    robust = NCERCELoss
