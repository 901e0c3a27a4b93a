"""R-Drop: two predictions of the same images under different dropout masks must agree.

    L = mean_i (CE(p1(x_i), y_i) + CE(p2(x_i), y_i)) / 2 + alpha mean_i (KL(p1 || p2) + KL(p2 || p1))(x_i) / 2

p1, p2 (B, C) are two passes in training mode, both with gradient. This is the loss in the README of the authors' code,
with the mean over the batch in both terms: `alpha` is the weight of a sample's divergence against its cross entropy,
whatever the batch size. With divergence "sum" it is summed over the batch, as in the authors' code for images; alpha
then has the effect of alpha B. With alpha = 0, or on a network without dropout, this is CCE.
Liang et al., R-Drop: regularized dropout for neural networks, 2021.
"""

from dataclasses import dataclass

from torch.nn.functional import cross_entropy, log_softmax

from warlab.common.setting import setting
from warlab.methods.base import Batch, Log, Losses, Method, Models, Step


@dataclass(frozen=True)
class Config:
    alpha: float = setting(1.0, "our choice", minimum=0)
    divergence: str = setting("mean", "our choice", choices=("mean", "sum"))  # over the batch


class Algorithm(Method):
    label = "R-Drop"

    def loss(self, models: Models, batch: Batch, step: Step) -> tuple[Losses, Log]:
        first, second = models[0](batch.x), models[0](batch.x)
        supervised = (cross_entropy(first, batch.y) + cross_entropy(second, batch.y)) / 2
        log_1, log_2 = log_softmax(first, 1), log_softmax(second, 1)
        divergence = ((log_1.exp() - log_2.exp()) * (log_1 - log_2)).sum(1).mean() / 2  # both KL divergences
        weight = self.config.alpha * (len(batch.y) if self.config.divergence == "sum" else 1)
        return supervised + weight * divergence, {"regulariser": divergence.detach()}
