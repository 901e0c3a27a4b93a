"""The paper's rule for Clothing1M: epsilon / 10 after five epochs "when the training loss is not decreasing".

Read as: at the end of that epoch, if its mean training loss is not below that of the epoch before it.
"""

import logging

from torch import Tensor

from warlab.errors import WarlabError

logger = logging.getLogger(__name__)
RULES = ("never", "loss", "always")  # "loss" is the paper's; "always" forces the division


class EpsilonRule:
    """Follows the losses of the last two epochs; its numbers are part of a run's checkpoint."""

    def __init__(self, rule: str, after: int, epsilon: float) -> None:
        if rule not in RULES:
            raise WarlabError(f"epsilon_rule must be one of {', '.join(RULES)}, not {rule!r}.")
        self.rule, self.after, self.epsilon = rule, after, epsilon
        self.means: list[float] = []
        self.total: Tensor | float = 0.0
        self.batches = 0

    def see(self, loss: Tensor) -> None:
        self.total = self.total + loss.detach()
        self.batches += 1

    def begin(self, epoch: int) -> None:
        """Called before each epoch; decides once."""
        if self.batches:
            self.means.append(float(self.total) / self.batches)
            self.total, self.batches = 0.0, 0
        if self.rule == "never" or epoch != self.after or epoch == 0:
            return
        decreased = len(self.means) > 1 and self.means[-1] < self.means[-2]
        if self.rule == "always" or not decreased:
            self.epsilon /= 10
        told = " and ".join(f"{mean:.4f}" for mean in self.means[-2:])
        logger.info(f"epsilon is {self.epsilon:g} after epoch {epoch}: mean losses of its last two epochs {told}")

    def state(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in ("epsilon", "means", "total", "batches")}

    def restore(self, state: dict[str, object]) -> None:
        vars(self).update(state)
