"""Epsilon-softmax: predictions within epsilon of one-hot vectors, with cross entropy and the mean absolute error.

    p~ = (p + m onehot(argmax p)) / (m + 1)
    L  = mean_i ( - alpha log max(p~_y, 1e-8) + 2 beta (1 - p_y) )(x_i)        p (B, C), y = y_i

Where the label is the predicted class, the first term is almost zero; elsewhere it has the gradient of -alpha log p_y.
Wang et al., Epsilon-softmax: approximating one-hot vectors for mitigating label noise, 2024.
"""

from dataclasses import dataclass

from warlab.common.setting import setting
from warlab.losses.eps_softmax import EpsilonSoftmaxLoss
from warlab.methods._robust import Robust


@dataclass(frozen=True)
class Config:
    # for asymmetric noise on CIFAR-10; other values are in hyperparameters.yaml
    alpha: float = setting(0.02, "baseline's code", minimum=0)
    beta: float = setting(5.0, "baseline's code", minimum=0)
    m: float = setting(1e3, "baseline's code", minimum=0)


class Algorithm(Robust):
    label = "Epsilon-softmax"
    robust = EpsilonSoftmaxLoss
