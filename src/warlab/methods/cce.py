"""CCE: categorical cross entropy with the labels as they are, the baseline of every table.

L = -mean_i log p(x_i)[y_i]        p (B, C)
"""

from torch.nn.functional import cross_entropy

from warlab.methods.base import Batch, Log, Losses, Method, Models, Step


class Algorithm(Method):
    label = "CCE"

    def loss(self, models: Models, batch: Batch, step: Step) -> tuple[Losses, Log]:
        return cross_entropy(models[0](batch.x), batch.y), {}
