"""Bootsoft: the target is a mixture of the label and the network's own prediction.

    L = - mean_i sum_c ( b y_ic + (1 - b) p_c(x_i) ) log p_c(x_i)        p (B, C)

The gradient flows through both p, as in the code of Patrini et al., 2017. With b = 1 this is CCE.
Reed et al., Training deep neural networks on noisy labels with bootstrapping, 2015.
"""

from dataclasses import dataclass

from warlab.common.setting import setting
from warlab.methods._probabilities import clipped_softmax, to_one_hot
from warlab.methods.base import Batch, Log, Losses, Method, Models, Step


@dataclass(frozen=True)
class Config:
    b: float = setting(0.95, "baseline's code", minimum=0, maximum=1)  # share of the label in the target


class Algorithm(Method):
    label = "Bootsoft"

    def loss(self, models: Models, batch: Batch, step: Step) -> tuple[Losses, Log]:
        p = clipped_softmax(models[0](batch.x))
        target = self.config.b * to_one_hot(batch.y, self.task.classes) + (1 - self.config.b) * p
        return -(target * p.log()).sum(1).mean(), {}
