"""What AR, TV and WAR share: cross entropy plus beta times an adversarial regulariser, after a warm-up.

    L = mean_i CE(p(x_i), y_i) + beta_t mean_i R(x_i),   beta_t = 0 in the warm-up, then beta

R is not computed during the warm-up. (The authors' code computes it and multiplies it by 0.)
"""

from abc import abstractmethod
from typing import Any

from torch import Tensor
from torch.nn.functional import cross_entropy

from warlab.methods.base import Batch, Log, Losses, Method, Models, Step, Task
from warlab.war.adversarial import AdversarialLoss


class Regularised(Method):
    """Cross entropy plus beta times an adversarial regulariser R, which a subclass makes."""

    def __init__(self, config: Any, task: Task) -> None:
        super().__init__(config, task)
        self.adversarial_loss = self.make_loss().to(task.device)
        self.clean_logits: Tensor | None = None  # of the batch, where R is still to be computed

    @abstractmethod
    def make_loss(self) -> AdversarialLoss:
        """Return R."""

    def options(self) -> dict[str, Any]:
        """Return the settings that all regularisers share."""
        relative = self.config.relative_epsilon is not None
        names = ("dropout", "batchnorm_update", "direction", "power_iterations")
        return {name: getattr(self.config, name) for name in ("relative_epsilon" if relative else "epsilon", *names)}

    def loss(self, models: Models, batch: Batch, step: Step) -> tuple[Losses, Log]:
        """Return the cross entropy; `regulariser` adds the second term after its gradient, in half the memory."""
        self.clean_logits = None
        if step.epoch < self.config.warmup or self.config.beta == 0:
            return cross_entropy(models[0](batch.x), batch.y), {}
        if self.config.direction == "clean" and self.adversarial_loss.perturbs:
            # The direction is a gradient of the clean forward pass, whose graph must be kept: both terms at once.
            x = batch.x.detach().requires_grad_()
            logits = models[0](x)
            penalty = self.adversarial_loss(models[0], x, logits)
            return cross_entropy(logits, batch.y) + self.config.beta * penalty, {"regulariser": penalty.detach()}
        logits = models[0](batch.x)
        self.clean_logits = logits.detach()
        return cross_entropy(logits, batch.y), {}

    def regulariser(self, models: Models, batch: Batch, step: Step) -> tuple[Tensor | None, Log]:
        if self.clean_logits is None:
            return None, {}
        penalty = self.adversarial_loss(models[0], batch.x, self.clean_logits)
        return self.config.beta * penalty, {"regulariser": penalty.detach()}
