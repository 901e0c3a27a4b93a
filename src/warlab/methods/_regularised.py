"""What AR, TV and WAR share: cross entropy plus beta times an adversarial regulariser, after a warm-up.

    L = mean_i CE(p(x_i), y_i) + beta_t mean_i R(x_i),   beta_t = 0 in the warm-up, then beta

R is not computed during the warm-up. (The authors' code computes it and multiplies it by 0.)
"""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, ClassVar

from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from warlab.methods.base import Batch, Log, Losses, Method, Models, Step, Task
from warlab.war.adversarial import AdversarialLoss


class Regularised(Method):
    loss_class: ClassVar[type[AdversarialLoss]]  # R, the only difference between these methods

    def __init__(self, config: Any, task: Task) -> None:
        super().__init__(config, task)
        self.regulariser = self.make_regulariser().to(task.device)

    def make_regulariser(self) -> AdversarialLoss:
        return self.loss_class(**self.options())

    def options(self) -> dict[str, Any]:
        """The settings that are parameters of the regulariser."""
        names = [field.name for field in fields(self.loss_class)]
        return {name: getattr(self.config, name) for name in names if hasattr(self.config, name)}

    def loss(self, models: Models, batch: Batch, step: Step) -> tuple[Losses, Log]:
        if step.epoch < self.config.warmup or self.config.beta == 0:
            return cross_entropy(models[0](batch.x), batch.y), {}
        if self.config.direction == "clean" and self.regulariser.epsilon > 0:
            return self._through_one_graph(models[0], batch)
        logits = models[0](batch.x)
        log: Log = {}
        return self._both(models[0], batch, logits.detach(), cross_entropy(logits, batch.y), log), log

    def _through_one_graph(self, model: nn.Module, batch: Batch) -> tuple[Losses, Log]:
        """The direction is a gradient of the clean forward, so that its graph must be kept."""
        x = batch.x.detach().requires_grad_()
        logits = model(x)
        penalty = self.regulariser(model, x, logits)
        return cross_entropy(logits, batch.y) + self.config.beta * penalty, {"regulariser": penalty.detach()}

    def _both(self, model: nn.Module, batch: Batch, logits: Tensor, entropy: Tensor, log: Log) -> Iterator[Tensor]:
        """The same gradients as those of the sum, in half the memory."""
        yield entropy
        penalty = self.regulariser(model, batch.x, logits)
        log["regulariser"] = penalty.detach()
        yield self.config.beta * penalty
