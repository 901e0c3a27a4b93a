"""WAR: Wasserstein adversarial regularisation, equation 5 of the paper; the loss itself is `warlab.war.WARLoss`.

    L = mean_i CE(p(x_i), y_i) + beta mean_i R(x_i),   R(x) = OT_C^lambda( p(x + r), sg[p(x)] )

`Regularised` computes L, with R after the warm-up only. The variants of the paper (war_01, war_w2v, war_embed,
war_random) differ in the ground cost C alone.
"""

import logging
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from warlab.common.setting import setting
from warlab.errors import WarlabError
from warlab.methods._regularised import Regularised
from warlab.methods.base import Batch, Log, Losses, Models, Samples, Step, Task
from warlab.war.war import WARLoss

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Config:
    # the ground cost by its name in hyperparameters.yaml; random.7 is the cost random with the seed 7
    cost: str = setting("w2v", "paper", pattern=r"^[a-z][a-z0-9_]*(\.[0-9]+)?$")
    beta: float = setting(10.0, "paper", minimum=0)
    epsilon: float = setting(0.005, "paper", minimum=0)
    # in place of epsilon: a share of each sample's norm
    relative_epsilon: float | None = setting(None, "our choice", above=0)
    lam: float = setting(0.05, "paper", minimum=1e-6)  # below, costs of size 1 have no digits left in float32
    iterations: int = setting(20, "paper", minimum=1, maximum=100_000)
    warmup: int = setting(15, "paper", unit="epochs")
    dropout: str = setting("independent", "authors' code", choices=("independent", "shared", "off"))  # of extra passes
    batchnorm_update: bool = setting(True, "authors' code")
    # "mean" is the authors' scaling, too short without dropout; "random" and "gaussian" are controls without a gradient
    direction: str = setting("sum", "our choice", choices=("sum", "mean", "clean", "random", "gaussian"))
    power_iterations: int = setting(1, "paper", minimum=1, maximum=1000)
    # "loss" is the paper's rule for Clothing1M, see EpsilonRule; "always" divides without a condition
    epsilon_rule: str = setting("never", "our choice", choices=("never", "loss", "always"))
    epsilon_after: int = setting(5, "paper", unit="epochs")


@dataclass
class EpsilonRule:
    """The paper's rule for Clothing1M: epsilon / 10 after five epochs "when the training loss is not decreasing". Read
    as: at the end of that epoch, if its mean training loss is not below that of the epoch before it.

    All of it is part of a run's checkpoint.
    """

    rule: str
    after: int
    epsilon: float
    means: list[float] = field(default_factory=list)  # the loss of each epoch
    total: Tensor | float = 0.0
    batches: int = 0

    def add(self, loss: Tensor) -> None:
        self.total = self.total + loss.detach()
        self.batches += 1

    def start_epoch(self, epoch: int) -> None:
        """Finish the mean of the epoch before, and decide in the epoch `after`."""
        if self.batches:
            self.means.append(float(self.total) / self.batches)
            self.total, self.batches = 0.0, 0
        if self.rule == "never" or epoch != self.after or epoch == 0:
            return
        decreased = len(self.means) > 1 and self.means[-1] < self.means[-2]
        if self.rule == "always" or not decreased:
            self.epsilon /= 10
        means = " and ".join(f"{mean:.4f}" for mean in self.means[-2:])
        logger.info(f"epsilon is {self.epsilon:g} after epoch {epoch}: mean losses of its last two epochs {means}")


class Algorithm(Regularised):
    label = "WAR"

    def __init__(self, config: Config, task: Task) -> None:
        super().__init__(config, task)
        self.length = "epsilon" if config.relative_epsilon is None else "relative_epsilon"
        self.rule = EpsilonRule(config.epsilon_rule, config.epsilon_after, getattr(config, self.length))

    def make_loss(self) -> WARLoss:
        if self.task.cost is None:
            raise WarlabError("WAR needs a ground cost between classes; name one in its settings (cost: w2v).")
        # `verify_cost` has refused a cost of the wrong sign before any training; random_raw may be signed.
        return WARLoss.paper(self.task.cost, self.config.lam, self.config.iterations, signed=True, **self.options())

    def on_epoch_start(self, models: Models, step: Step, samples: Samples) -> None:
        self.rule.start_epoch(step.epoch)

    def loss(self, models: Models, batch: Batch, step: Step) -> tuple[Losses, Log]:
        setattr(self.adversarial_loss, self.length, self.rule.epsilon)
        loss, log = super().loss(models, batch, step)
        self.first_term = torch.as_tensor(loss).detach()
        return loss, log

    def regulariser(self, models: Models, batch: Batch, step: Step) -> tuple[Tensor | None, Log]:
        penalty, log = super().regulariser(models, batch, step)
        if self.config.epsilon_rule == "never":
            return penalty, log
        self.rule.add(self.first_term if penalty is None else self.first_term + penalty.detach())
        return penalty, {"epsilon": self.rule.epsilon, **log}

    def state_dict(self) -> dict[str, Any]:
        return dict(vars(self.rule))

    def load_state_dict(self, state: dict[str, Any]) -> None:
        vars(self.rule).update(state)
