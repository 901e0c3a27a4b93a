"""ELR: predictions of early epochs, kept as targets, hold the network back from fitting wrong labels later.

    q_i = clip(p(x_i), 1e-4, 1 - 1e-4),   t_i <- beta t_i + (1 - beta) sg[q_i / sum_c q_ic],   t_i = 0 at first
    L   = mean_i CE(p(x_i), y_i) + lam mean_i log(1 - <t_i, q_i>)

t (N, C) is updated in every step, before the loss. With lam = 0 this is CCE.
Liu et al., Early-learning regularization prevents memorization of noisy labels, 2020.
"""

from dataclasses import dataclass

import torch
from torch.nn.functional import cross_entropy

from warlab.common.setting import setting
from warlab.methods.base import Batch, Log, Losses, Method, Models, Step, Task


@dataclass(frozen=True)
class Config:
    # for asymmetric noise on CIFAR-10; values for symmetric noise are in hyperparameters.yaml
    beta: float = setting(0.9, "baseline's code", minimum=0, below=1)
    lam: float = setting(1.0, "baseline's code", minimum=0)


class Algorithm(Method):
    label = "ELR"
    saved = ("table",)

    def __init__(self, config: Config, task: Task) -> None:
        super().__init__(config, task)
        self.table = torch.zeros(len(task.labels), task.classes, device=task.device)

    def loss(self, models: Models, batch: Batch, step: Step) -> tuple[Losses, Log]:
        logits = models[0](batch.x)
        q = logits.softmax(1).clamp(1e-4, 1 - 1e-4)
        fresh = (q / q.sum(1, keepdim=True)).detach()
        target = self.config.beta * self.table[batch.index] + (1 - self.config.beta) * fresh
        self.table[batch.index] = target.to(self.table.dtype)
        penalty = torch.log(1 - (target * q).sum(1)).mean()
        return cross_entropy(logits, batch.y) + self.config.lam * penalty, {"regulariser": penalty.detach()}
