"""WAR: Wasserstein adversarial regularisation, equation 5 of the paper; the loss itself is `warlab.war.WARLoss`.

    R(x) = OT_C^lambda( p(x + r), sg[p(x)] )

The variants of the paper (war_01, war_w2v, war_embed, war_random) differ in the ground cost C alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from warlab.errors import WarlabError
from warlab.losses.regulariser import AdversarialLoss
from warlab.losses.war_loss import WARLoss
from warlab.methods._epsilon import EpsilonRule
from warlab.methods._regularised import Regularised
from warlab.methods.base import Batch, Log, Losses, Samples, Step, Task, in_turn


@dataclass(frozen=True)
class Config:
    cost: str = "w2v"  # which ground cost the workflow hands in
    beta: float = 10.0  # paper
    epsilon: float = 0.005  # paper
    lam: float = 0.05  # paper
    iterations: int = 20  # paper
    warmup: int = 15  # epochs, paper
    dropout: str = "independent"  # masks of the extra passes, authors' code
    batchnorm_update: bool = True  # authors' code
    direction: str = "sum"  # our choice: "mean" is the authors' scaling, too short without dropout
    power_iterations: int = 1  # paper
    epsilon_rule: str = "never"  # "loss": the paper's rule for Clothing1M, see _epsilon.py
    epsilon_after: int = 5  # epochs, paper


class Algorithm(Regularised):
    label = "WAR"

    def __init__(self, config: Any, task: Task) -> None:
        super().__init__(config, task)
        self.rule = EpsilonRule(config.epsilon_rule, config.epsilon_after, config.epsilon)

    def on_epoch_start(self, models: Sequence[nn.Module], step: Step, samples: Samples) -> None:
        self.rule.begin(step.epoch)

    def loss(self, models: Sequence[nn.Module], batch: Batch, step: Step) -> tuple[Losses, Log]:
        self.regulariser.epsilon = self.rule.epsilon
        losses, log = super().loss(models, batch, step)
        if self.config.epsilon_rule == "never":
            return losses, log
        log["epsilon"] = self.rule.epsilon
        return self._seen(losses), log

    def _seen(self, losses: Losses) -> Iterator[Tensor]:
        """What the rule follows is their sum."""
        parts = []
        for loss in in_turn(losses):
            parts.append(loss.detach())
            yield loss
        self.rule.see(torch.stack(parts).sum())

    def state_dict(self) -> dict[str, Any]:
        return self.rule.state()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.rule.restore(state)

    def make_regulariser(self) -> AdversarialLoss:
        if self.task.cost is None:
            raise WarlabError("WAR needs a ground cost between classes; name one in its settings (cost: w2v).")
        # `verify_cost` has refused a cost of the wrong sign before any training; random_raw may be signed.
        return WARLoss(self.task.cost, self.config.lam, self.config.iterations, signed=True, **self.options())
