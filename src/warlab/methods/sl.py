"""SL: symmetric cross entropy, the usual one plus its reverse, in which the prediction and the label change places.

    L = a CE + b RCE,   RCE = - mean_i sum_c p_c(x_i) log(clip(y_ic)) = - A mean_i (1 - p_{y_i}(x_i)),   A = log 1e-4

With a = 1 and b = 0 this is CCE. Wang et al., Symmetric cross entropy for robust learning with noisy labels, 2019.
"""

from dataclasses import dataclass

from warlab.common.setting import setting
from warlab.losses.symmetric import SymmetricCrossEntropyLoss
from warlab.methods._robust import Robust


@dataclass(frozen=True)
class Config:
    a: float = setting(0.1, "baseline's code", minimum=0)  # weight of CE
    b: float = setting(1.0, "baseline's code", minimum=0)  # weight of RCE
    zero: float = setting(1e-4, "baseline's code", above=0, maximum=1)  # for the zeros of the label in the logarithm


class Algorithm(Robust):
    label = "SL"
    robust = SymmetricCrossEntropyLoss
