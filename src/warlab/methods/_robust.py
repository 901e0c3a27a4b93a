"""Methods whose loss is one of `warlab.losses` on each batch."""

from abc import abstractmethod
from typing import Any

from warlab.losses.base import RobustLoss
from warlab.methods.base import Batch, Log, Losses, Method, Models, Step, Task


class Robust(Method):
    """The loss that `make_loss` returns, on the logits and labels of the batch."""

    def __init__(self, config: Any, task: Task) -> None:
        super().__init__(config, task)
        self.robust_loss = self.make_loss().to(task.device)

    @abstractmethod
    def make_loss(self) -> RobustLoss:
        """Return the loss."""

    def loss(self, models: Models, batch: Batch, step: Step) -> tuple[Losses, Log]:
        return self.robust_loss(models[0](batch.x), batch.y), {}
