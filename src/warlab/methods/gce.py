"""GCE: generalised cross entropy, between CCE (q → 0) and the mean absolute error (q = 1).

    L_q(p, y) = (1 - p_y^q) / q,   L = mean_i L_q(p(x_i), y_i)                          form: plain
    L = mean_i w_i ( L_q(p(x_i), y_i) - L_q(k) ),   L_q(k) = (1 - k^q) / q              form: truncated

w_i (N,) is 1 at first; from the epoch `start` on, every few epochs, w_i = 1 where p_{y_i}(x_i) > k and 0 elsewhere.
The original computes w with the best model on clean validation data; there is none here, so the current model is used.
Zhang and Sabuncu, Generalized cross entropy loss for training deep neural networks with noisy labels, 2018.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from warlab.common.setting import setting
from warlab.methods._probabilities import EPSILON
from warlab.methods.base import SELECTED, Batch, Log, Losses, Method, Models, Samples, Step, Task, evaluating


@dataclass(frozen=True)
class Config:
    q: float = setting(0.7, "baseline's code", above=0, maximum=1)
    form: str = setting("plain", "our choice", choices=("plain", "truncated"))  # plain: most likely the paper's
    k: float = setting(0.5, "baseline's code", minimum=0, maximum=1)  # a label less probable than this is left out
    start: int = setting(40, "baseline's code", unit="epochs")  # for CIFAR-10
    every: int = setting(10, "baseline's code", unit="epochs")


class Algorithm(Method):
    label = "GCE"
    saved = ("kept",)

    def __init__(self, config: Config, task: Task) -> None:
        super().__init__(config, task)
        self.kept = torch.ones(len(task.labels), dtype=torch.bool, device=task.device)

    def on_epoch_start(self, models: Models, step: Step, samples: Samples) -> None:
        since = step.epoch - self.config.start
        if self.config.form == "plain" or since < 0 or since % max(1, self.config.every) != 0:
            return
        with evaluating(*models):
            for batch in samples.ordered_batches():
                self.kept[batch.index] = _label_probability(models[0](batch.x), batch.y) > self.config.k

    def loss(self, models: Models, batch: Batch, step: Step) -> tuple[Losses, Log]:
        q, k = self.config.q, self.config.k
        values = (1 - _label_probability(models[0](batch.x), batch.y) ** q) / q
        if self.config.form == "plain":
            return values.mean(), {}
        kept = self.kept[batch.index]
        return (kept * (values - (1 - k**q) / q)).mean(), {SELECTED: kept[None], "kept": kept.float().mean()}


def _label_probability(logits: Tensor, y: Tensor) -> Tensor:
    """p_y (B,), not below 1e-7: the gradient of p^q is infinite at zero."""
    return logits.softmax(1).gather(1, y[:, None])[:, 0].clamp_min(EPSILON)
