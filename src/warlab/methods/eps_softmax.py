"""Epsilon-softmax: predictions within epsilon of one-hot vectors, with cross entropy and the mean absolute error.

    p~ = (p + m onehot(argmax p)) / (m + 1)
    L  = mean_i ( - alpha log max(p~_y, 1e-8) + 2 beta (1 - p_y) )(x_i)        p (B, C), y = y_i

Where the label is the predicted class, the first term is almost zero; elsewhere it has the gradient of -alpha log p_y.
Wang et al., Epsilon-softmax: approximating one-hot vectors for mitigating label noise, 2024.
"""

from dataclasses import dataclass

from torch.nn.functional import nll_loss

from warlab.common.setting import setting
from warlab.losses.probabilities import to_one_hot
from warlab.methods._normalised import label_probability
from warlab.methods.base import Batch, Log, Losses, Method, Models, Step


@dataclass(frozen=True)
class Config:
    # for asymmetric noise on CIFAR-10; other values are in hyperparameters.yaml
    alpha: float = setting(0.02, "baseline's code", minimum=0)
    beta: float = setting(5.0, "baseline's code", minimum=0)
    m: float = setting(1e3, "baseline's code", minimum=0)


class Algorithm(Method):
    label = "Epsilon-softmax"

    def loss(self, models: Models, batch: Batch, step: Step) -> tuple[Losses, Log]:
        logits, m = models[0](batch.x), self.config.m
        p = logits.softmax(1)
        near = (p + m * to_one_hot(p.argmax(1), p.shape[1]).to(p.dtype)) / (m + 1)
        absolute = 2 * (1 - label_probability(logits, batch.y)).mean()
        return self.config.alpha * nll_loss(near.clamp_min(1e-8).log(), batch.y) + self.config.beta * absolute, {}
