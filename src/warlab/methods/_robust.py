"""Methods whose loss is one of `warlab.losses` on each batch."""

from typing import Any, ClassVar

from warlab.losses.base import RobustLoss
from warlab.methods.base import Batch, Log, Losses, Method, Models, Step, Task


class Robust(Method):
    """The loss `robust`, with the settings of `Config`, on the logits and labels of the batch."""

    robust: ClassVar[type[RobustLoss]]

    def __init__(self, config: Any, task: Task) -> None:
        super().__init__(config, task)
        self.robust_loss = self.make_loss().to(task.device)

    def make_loss(self) -> RobustLoss:
        return self.robust(**(vars(self.config) if self.config else {}))

    def loss(self, models: Models, batch: Batch, step: Step) -> tuple[Losses, Log]:
        return self.robust_loss(models[0](batch.x), batch.y), {}
