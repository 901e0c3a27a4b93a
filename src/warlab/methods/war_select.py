"""WAR with selected labels: cross entropy on the labels that look right, WAR on all samples.

    s_y = #{i in U: y_i = y, argmax p(x_i) = y} / #{i in U: y_i = y}     the share of right labels, at least 0.1
    S   = the s_y n_y samples of each given class y with the smallest CE(p(x_i), y_i), chosen again before every epoch
    L   = (1 / |S|) sum_{i in S} CE(p(x_i), y_i) + beta mean_i R(x_i)

Until the epoch `begin` the network learns from one half of the samples, those with an even index. U are samples of the
other half, which it has not seen: of each predicted class the half with the highest probability, since the errors of a
network that is not yet good would count as noise. No noise rate has to be known. The selection is made within each
class, because strong regularisers tend to lose whole classes. This is not a method of the paper.
"""

import logging
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from warlab.common.setting import setting
from warlab.methods._selected_war import SelectedWAR, keep_smallest
from warlab.methods.base import Models, Samples, Step, Task, evaluating

logger = logging.getLogger(__name__)
LEAST = 0.1  # of the labels of a class are kept


@dataclass(frozen=True)
class Config:
    cost: str = setting("w2v", "paper", pattern=r"^[a-z][a-z0-9_]*(\.[0-9]+)?$")
    beta: float = setting(10.0, "paper", minimum=0)
    epsilon: float = setting(0.005, "paper", minimum=0)
    lam: float = setting(0.05, "paper", minimum=1e-6)
    iterations: int = setting(20, "paper", minimum=1, maximum=100_000)
    begin: int = setting(15, "our choice", unit="epochs")  # as the warm-up of WAR
    dropout: str = setting("independent", "authors' code", choices=("independent", "shared", "off"))  # of extra passes
    direction: str = setting("sum", "our choice", choices=("sum", "mean"))


class Algorithm(SelectedWAR):
    label = "WAR (selected labels)"
    images_only = True
    saved = ("shares", "kept")

    def __init__(self, config: Config, task: Task) -> None:
        super().__init__(config, task)
        self.shares = torch.ones(task.classes, dtype=torch.double, device=task.device)

    def on_epoch_start(self, models: Models, step: Step, samples: Samples) -> None:
        if step.epoch < self.config.begin:
            self.kept = torch.arange(len(self.kept), device=self.kept.device) % 2 == 0
            return
        with evaluating(*models):
            parts = [(models[0](batch.x), batch.y) for batch in samples.ordered_batches()]
        logits, y = (torch.cat(part) for part in zip(*parts, strict=True))
        if step.epoch == self.config.begin:
            unseen = (
                torch.arange(len(y), device=y.device) % 2 == 1 if step.epoch else torch.ones_like(y, dtype=torch.bool)
            )
            self.shares = right_shares(logits[unseen].softmax(1), y[unseen])
            logger.info(f"estimated shares of right labels by class: {[round(s, 2) for s in self.shares.tolist()]}")
        self.kept = keep_smallest(cross_entropy(logits, y, reduction="none"), y, self.shares)


def right_shares(p: Tensor, y: Tensor) -> Tensor:
    """Return the estimated share of right labels of each given class (C,), from p (n, C) of unseen samples; 1 for a
    class of which no sample is sure."""
    sure, predicted = p.max(1)
    median = torch.stack([torch.cat([sure[predicted == k], sure.new_zeros(1)]).median() for k in range(p.shape[1])])
    used = sure >= median[predicted]
    given, right = (torch.bincount(y[one], minlength=p.shape[1]).double() for one in (used, used & (predicted == y)))
    return torch.where(given > 0, right / given.clamp_min(1), 1.0).clamp(LEAST, 1)
