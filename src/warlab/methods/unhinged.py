"""Unhinged: a loss that is linear in the score of the label, so that symmetric noise only rescales it.

    L = mean_i (1/C) sum_c (1 - y_ic z_c(x_i)) = 1 - mean_i z_{y_i}(x_i) / C        z = batchnorm(f(x)) (B, C)

There is no softmax: a batch norm over the logits, with its affine parameters, keeps the scores from growing for
ever; the class with the highest z is predicted. van Rooyen et al., Learning with symmetric label noise: the
importance of being unhinged, 2015; the batch norm is in the code of Patrini et al., 2017.
"""

from torch import Tensor, nn
from torch.nn.functional import batch_norm

from warlab.methods.base import Batch, Log, Losses, Method, Models, Step


class Algorithm(Method):
    label = "Unhinged"

    def extend(self, network: nn.Module) -> nn.Module:
        return nn.Sequential(network, ScoreNorm(self.task.classes))

    def loss(self, models: Models, batch: Batch, step: Step) -> tuple[Losses, Log]:
        scores = models[0](batch.x)
        return 1 - scores.gather(1, batch.y[:, None]).mean() / self.task.classes, {}


class ScoreNorm(nn.BatchNorm1d):
    """Batch norm that uses its running statistics for a single sample, which has no batch statistics."""

    def forward(self, input: Tensor) -> Tensor:
        if len(input) > 1:
            return super().forward(input)
        return batch_norm(input, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps)
