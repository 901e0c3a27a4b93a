"""Mixup: the network learns from mixtures of two images, with the same mixture of their labels.

    x'_i = l x_i + (1 - l) x_j(i),   L = mean_i ( l CE(p(x'_i), y_i) + (1 - l) CE(p(x'_i), y_j(i)) )

l ~ Beta(alpha, alpha) once for a batch, j a random permutation of it. With alpha = 0 this is CCE. The audit of the
labels sees the predictions for the mixtures, because no other is computed.
Zhang et al., mixup: beyond empirical risk minimization, 2018.
"""

from dataclasses import dataclass

import torch
from torch.distributions import Beta
from torch.nn.functional import cross_entropy

from warlab.common.setting import setting
from warlab.methods.base import Batch, Log, Losses, Method, Models, Step


@dataclass(frozen=True)
class Config:
    alpha: float = setting(1.0, "baseline's code", minimum=0)


class Algorithm(Method):
    label = "Mixup"
    images_only = True  # it mixes whole images

    def loss(self, models: Models, batch: Batch, step: Step) -> tuple[Losses, Log]:
        alpha = self.config.alpha
        # On the CPU, so that all devices draw the same numbers.
        share = float(Beta(alpha, alpha).sample()) if alpha > 0 else 1.0
        other = torch.randperm(len(batch.y)).to(batch.y.device)
        logits = models[0](share * batch.x + (1 - share) * batch.x[other])
        loss = share * cross_entropy(logits, batch.y) + (1 - share) * cross_entropy(logits, batch.y[other])
        return loss, {}
