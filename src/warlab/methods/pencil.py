"""PENCIL: every sample has a label distribution of its own, which is learned together with the network.

    yd_i = softmax(yt_i),   yt (N, C), at first K onehot(y_i)
    L_c  = (1/C) mean_i KL(p(x_i) || yd_i),   L_o = mean_i CE(yd_i, y_i),   L_e = (1/C) mean_i H(p(x_i))
    stage 1: L = CCE;   stage 2: L = L_c + alpha L_o + beta L_e and yt <- yt - lam dL/dyt;   stage 3: L = L_c

The gradient in yt carries 1/B, so lam belongs to a batch size: `lam_batch`. Yi and Wu, Probabilistic end-to-end noise
correction for learning with noisy labels, 2019. Their code applies softmax twice in L_o, and an integer division makes
its learning rate zero after the first third of stage 3; both are settings. With one softmax a label distribution comes
to rest at (p + alpha C y) / (1 + alpha C): with alpha = 0.1 and ten classes a wrong label keeps one half and is never
overruled. With two, for which the values of alpha in use were chosen, it falls below a tenth; so two are the default.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, log_softmax

from warlab.errors import WarlabError
from warlab.methods._probabilities import entropy, hard
from warlab.methods.base import Batch, Log, Losses, Method, Step, Task


@dataclass(frozen=True)
class Config:
    alpha: float = 0.4  # baseline's code
    beta: float = 0.1  # baseline's code
    lam: float = 600.0  # baseline's code
    lam_batch: int = 128  # the batch size that lam was chosen for, baseline's code
    sharpness: float = 10.0  # K, baseline's code
    stage2: int = 26  # epoch in which it begins; 70 of 320 in the baseline's code, 120 here
    stage3: int = 75  # epoch in which it begins; 200 of 320 in the baseline's code
    compatibility: str = "code"  # L_o with two softmax, for which alpha was chosen; "fixed" has one, the formula
    last_stage: str = "shared"  # learning rate of stage 3: all methods' schedule; "thirds" /10, /100; "code" 0, 0


class Algorithm(Method):
    label = "PENCIL"
    saved = ("table",)

    def __init__(self, config: Any, task: Task) -> None:
        super().__init__(config, task)
        if config.compatibility not in ("fixed", "code") or config.last_stage not in ("shared", "thirds", "code"):
            raise WarlabError("PENCIL: compatibility is fixed or code, and last_stage is shared, thirds or code.")
        self.table = config.sharpness * hard(task.labels, task.classes)

    def lr(self, step: Step, scheduled: Callable[[int], float]) -> float:
        since, length = step.epoch - self.config.stage3, step.epochs - self.config.stage3
        if self.config.last_stage == "shared" or since < 0:
            return scheduled(step.epoch)
        third = 3 * since // length
        if self.config.last_stage == "code" and third > 0:
            return 0.0
        return scheduled(self.config.stage3) / 10**third

    def loss(self, models: Sequence[nn.Module], batch: Batch, step: Step) -> tuple[Losses, Log]:
        logits = models[0](batch.x)
        if step.epoch < self.config.stage2:
            return cross_entropy(logits, batch.y), {}
        yt = self.table[batch.index]
        log: Log = {"moved": (yt.argmax(1) != batch.y).float().mean()}
        if step.epoch >= self.config.stage3:
            return self.classification(logits, yt).mean(), log
        on_labels = self.classification(logits, yt) + self.config.alpha * self.to_given(yt, batch.y)
        self.move(logits.detach(), batch)
        return (on_labels + self.config.beta * entropy(logits) / self.task.classes).mean(), log

    def classification(self, logits: Tensor, yt: Tensor) -> Tensor:
        """KL(p || yd) / C per sample."""
        log_p = log_softmax(logits, 1)
        return (log_p.exp() * (log_p - log_softmax(yt, 1))).sum(1) / self.task.classes

    def to_given(self, yt: Tensor, y: Tensor) -> Tensor:
        """CE(yd, y) per sample, so that labels do not wander off."""
        scores = yt.softmax(1) if self.config.compatibility == "code" else yt
        return cross_entropy(scores, y, reduction="none")

    def move(self, logits: Tensor, batch: Batch) -> None:
        """One plain gradient step on the batch's label distributions; p is a constant for them."""
        yt = self.table[batch.index].requires_grad_()
        loss = self.classification(logits, yt) + self.config.alpha * self.to_given(yt, batch.y)
        (gradient,) = torch.autograd.grad(loss.sum(), yt)
        self.table[batch.index] = yt.detach() - self.config.lam / self.config.lam_batch * gradient
