"""Cross entropy on the samples whose label is trusted, WAR on all samples: what two methods share.

    L = (1 / |S|) sum_{i in S} CE(p(x_i), y_i) + beta mean_i R(x_i),   R(x) = OT_C^lambda( p(x + r), sg[p(x)] )

S (N,) is a mask that a subclass decides before an epoch; the sums are over a batch. R needs no label, so that the
samples outside S are unlabelled and not lost. It is computed from the epoch `begin` on.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from warlab.errors import WarlabError
from warlab.methods.base import SELECTED, Batch, Log, Losses, Method, Models, Step, Task
from warlab.war.war import WARLoss


class SelectedWAR(Method):
    """`config` has begin, beta, lam, iterations and the settings of the perturbation."""

    def __init__(self, config: Any, task: Task) -> None:
        super().__init__(config, task)
        if task.cost is None:
            raise WarlabError("WAR needs a ground cost between classes; name one in its settings (cost: w2v).")
        options = {name: getattr(config, name) for name in ("epsilon", "dropout", "direction")}
        self.adversarial_loss = WARLoss(task.cost, config.lam, config.iterations, signed=True, **options).to(
            task.device
        )
        self.kept = torch.ones(len(task.labels), dtype=torch.bool, device=task.device)
        self.clean_logits: Tensor | None = None

    def loss(self, models: Models, batch: Batch, step: Step) -> tuple[Losses, Log]:
        logits, kept = models[0](batch.x), self.kept[batch.index]
        self.observe(logits.detach(), batch, step)
        self.clean_logits = None if step.epoch < self.config.begin or self.config.beta == 0 else logits.detach()
        values = cross_entropy(logits, batch.y, reduction="none")
        # A batch may have no trusted sample; its loss is then 0.
        return (values * kept).sum() / kept.sum().clamp_min(1), {SELECTED: kept[None], "kept": kept.float().mean()}

    def observe(self, logits: Tensor, batch: Batch, step: Step) -> None:
        """Record what a later selection needs of these logits (B, C)."""
        return

    def regulariser(self, models: Models, batch: Batch, step: Step) -> tuple[Tensor | None, Log]:
        if self.clean_logits is None:
            return None, {}
        penalty = self.adversarial_loss(models[0], batch.x, self.clean_logits)
        return self.config.beta * penalty, {"regulariser": penalty.detach()}


def keep_smallest(values: Tensor, y: Tensor, shares: Tensor) -> Tensor:
    """Return a mask (N,) of the samples with the smallest values: the share (C,) of each given class, at least one."""
    kept = torch.zeros_like(y, dtype=torch.bool)
    for label in range(len(shares)):
        members = (y == label).nonzero()[:, 0]
        count = max(1, round(float(shares[label]) * len(members)))
        kept[members[values[members].argsort(stable=True)[:count]]] = True
    return kept
