"""GJS: the label and the predictions for two views of an image must agree, by a Jensen-Shannon divergence of all three.

    m_i = pi e_{y_i} + (1 - pi)/2 (p(x_i) + p(x'_i))
    L   = scale mean_i ( pi KL(e_{y_i} || m_i) + (1 - pi)/2 (KL(p(x_i) || m_i) + KL(p(x'_i) || m_i)) )
    scale = -1 / ((1 - pi) log(1 - pi))

x and x' pass the network as one batch. They are two augmentations (`augmentation: two_views`); without one, x' = x and
only the dropout masks differ, and without dropout either, this is the weighted Jensen-Shannon divergence JS of the
paper, whose limits are CCE (pi → 0) and the mean absolute error (pi → 1).
Englesson and Azizpour, Generalized Jensen-Shannon divergence loss for learning with noisy labels, 2021.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from warlab.common.setting import setting
from warlab.losses.probabilities import EPSILON, to_one_hot
from warlab.methods.base import LOGITS, Batch, Log, Losses, Method, Models, Step


@dataclass(frozen=True)
class Config:
    pi: float = setting(0.3, "baseline's code", above=0, below=1)  # weight of the label; for asymmetric noise, CIFAR-10


class Algorithm(Method):
    label = "GJS"

    def loss(self, models: Models, batch: Batch, step: Step) -> tuple[Losses, Log]:
        other = batch.x if batch.view is None else batch.view
        logits = models[0](torch.cat([batch.x, other]))
        first, second = logits.softmax(1).chunk(2)
        pi, label = self.config.pi, to_one_hot(batch.y, self.task.classes).to(first.dtype)
        mean = (pi * label + (1 - pi) / 2 * (first + second)).clamp(EPSILON, 1).log()
        parts = pi * divergence(label, mean) + (1 - pi) / 2 * (divergence(first, mean) + divergence(second, mean))
        scale = -1 / ((1 - pi) * math.log(1 - pi))
        return scale * parts.mean(), {LOGITS: logits.detach().chunk(2)[0]}


def divergence(p: Tensor, log_q: Tensor) -> Tensor:
    """KL(p || q) = sum_c p_c (log p_c - log q_c): (B,); a p_c of zero adds nothing."""
    return torch.where(p > 0, p * (p.clamp_min(EPSILON).log() - log_q), 0.0).sum(1)
