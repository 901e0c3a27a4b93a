"""Label smoothing: the target is a mixture of the label and the uniform distribution.

    L = - mean_i sum_c ( (1 - share) y_ic + share / C ) log p_c(x_i)        p (B, C)

With share = 0 this is CCE. Szegedy et al., Rethinking the Inception architecture for computer vision, 2016; against
label noise in Lukasik et al., Does label smoothing mitigate label noise?, 2020.
"""

from dataclasses import dataclass

from torch.nn.functional import cross_entropy

from warlab.common.setting import setting
from warlab.methods.base import Batch, Log, Losses, Method, Models, Step


@dataclass(frozen=True)
class Config:
    share: float = setting(0.1, "baseline's author", minimum=0, below=1)  # of the uniform distribution


class Algorithm(Method):
    label = "Label smoothing"

    def loss(self, models: Models, batch: Batch, step: Step) -> tuple[Losses, Log]:
        return cross_entropy(models[0](batch.x), batch.y, label_smoothing=self.config.share), {}
