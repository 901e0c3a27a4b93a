"""CCE: categorical cross entropy with the labels as they are, the baseline of every table.

L = -mean_i log p(x_i)[y_i]        p (B, C)
"""

from collections.abc import Sequence

from torch import nn
from torch.nn.functional import cross_entropy

from warlab.methods.base import Batch, Log, Losses, Method, Step


class Algorithm(Method):
    label = "CCE"

    def loss(self, models: Sequence[nn.Module], batch: Batch, step: Step) -> tuple[Losses, Log]:
        return cross_entropy(models[0](batch.x), batch.y), {}
