"""WAR with suspects unlabelled: the labels that look most wrong are dropped once, their images stay for WAR.

    m_i = mean over the first `begin` epochs of ( z_{y_i} - max_{c ≠ y_i} z_c )(x_i)        z: logits of the training
    S   = all samples but the `share` with the smallest m_i
    L   = (1 / |S|) sum_{i in S} CE(p(x_i), y_i) + beta mean_i R(x_i)   from the epoch `begin` on, CCE before

m is the margin by which the audit of labels ranks its suspects (Pleiss et al., Identifying mislabeled data using the
area under the margin ranking, 2020). R needs no label, so that the suspects are unlabelled samples. Not in the paper.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from warlab.common.setting import setting
from warlab.methods._selected_war import SelectedWAR
from warlab.methods._selection import forget_rate
from warlab.methods.base import Batch, Models, Samples, Step, Task


@dataclass(frozen=True)
class Config:
    cost: str = setting("w2v", "paper", pattern=r"^[a-z][a-z0-9_]*(\.[0-9]+)?$")
    beta: float = setting(10.0, "paper", minimum=0)
    epsilon: float = setting(0.005, "paper", minimum=0)
    lam: float = setting(0.05, "paper", minimum=1e-6)
    iterations: int = setting(20, "paper", minimum=1, maximum=100_000)
    begin: int = setting(15, "our choice", unit="epochs")  # as the warm-up of WAR
    # of the labels is dropped; realised is the true share of wrong labels
    share: str | float = setting("realised", "our choice", choices=("nominal", "realised"), minimum=0, below=1)
    dropout: str = setting("independent", "authors' code", choices=("independent", "shared", "off"))  # of extra passes
    direction: str = setting("sum", "our choice", choices=("sum", "mean"))


class Algorithm(SelectedWAR):
    label = "WAR (suspects unlabelled)"
    images_only = True  # pixels are visited unequally often, so sums of margins cannot be compared
    saved = ("margins", "kept")

    def __init__(self, config: Config, task: Task) -> None:
        super().__init__(config, task)
        self.margins = torch.zeros(len(task.labels), device=task.device)  # summed over the epochs so far

    def on_epoch_start(self, models: Models, step: Step, samples: Samples) -> None:
        if step.epoch == self.config.begin and step.epoch > 0:
            dropped = round(forget_rate(self.config.share, self.task) * len(self.margins))
            self.kept = torch.ones_like(self.kept)
            self.kept[self.margins.argsort(stable=True)[:dropped]] = False

    def observe(self, logits: Tensor, batch: Batch, step: Step) -> None:
        if step.epoch < self.config.begin:
            self.margins[batch.index] += margin(logits, batch.y).to(self.margins.dtype)


def margin(logits: Tensor, y: Tensor) -> Tensor:
    """z_y - max_{c ≠ y} z_c: (B,)"""
    others = logits.scatter(1, y[:, None], -torch.inf)
    return logits.gather(1, y[:, None])[:, 0] - others.max(1).values
