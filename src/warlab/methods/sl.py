"""SL: symmetric cross entropy, the usual one plus its reverse, in which the prediction and the label change places.

    L = a CE + b RCE,   RCE = - mean_i sum_c p_c(x_i) log(clip(y_ic)) = - A mean_i (1 - p_{y_i}(x_i)),   A = log 1e-4

With a = 1 and b = 0 this is CCE. Wang et al., Symmetric cross entropy for robust learning with noisy labels, 2019.
"""

import math
from dataclasses import dataclass

from torch.nn.functional import cross_entropy

from warlab.common.setting import setting
from warlab.methods.base import Batch, Log, Losses, Method, Models, Step


@dataclass(frozen=True)
class Config:
    a: float = setting(0.1, "baseline's code", minimum=0)  # weight of CE
    b: float = setting(1.0, "baseline's code", minimum=0)  # weight of RCE
    zero: float = setting(1e-4, "baseline's code", above=0, maximum=1)  # for the zeros of the label in the logarithm


class Algorithm(Method):
    label = "SL"

    def loss(self, models: Models, batch: Batch, step: Step) -> tuple[Losses, Log]:
        logits = models[0](batch.x)
        p_label = logits.softmax(1).gather(1, batch.y[:, None])
        reverse = -math.log(self.config.zero) * (1 - p_label).mean()
        return self.config.a * cross_entropy(logits, batch.y) + self.config.b * reverse, {}
