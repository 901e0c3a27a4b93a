"""GCE: generalised cross entropy, between CCE (q → 0) and the mean absolute error (q = 1).

    L_q(p, y) = (1 - p_y^q) / q,   L = mean_i L_q(p(x_i), y_i)                          form: plain
    L = mean_i w_i ( L_q(p(x_i), y_i) - L_q(k) ),   L_q(k) = (1 - k^q) / q              form: truncated

w_i (N,) is 1 at first; from the epoch `start` on, every few epochs, w_i = 1 where p_{y_i}(x_i) > k and 0 elsewhere.
The original computes w with the best model on clean validation data; there is none here, so the current model is used.
Zhang and Sabuncu, Generalized cross entropy loss for training deep neural networks with noisy labels, 2018.
"""

from dataclasses import dataclass

import torch

from warlab.common.setting import setting
from warlab.losses.gce import GCELoss, clipped_probability
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
    images_only = ("form", "truncated")
    saved = ("kept",)

    def __init__(self, config: Config, task: Task) -> None:
        super().__init__(config, task)
        self.gce = GCELoss(config.q, None if config.form == "plain" else config.k)
        self.kept = torch.ones(len(task.labels), dtype=torch.bool, device=task.device)

    def on_epoch_start(self, models: Models, step: Step, samples: Samples) -> None:
        since = step.epoch - self.config.start
        if self.config.form == "plain" or since < 0 or since % max(1, self.config.every) != 0:
            return
        with evaluating(*models):
            for batch in samples.ordered_batches():
                self.kept[batch.index] = clipped_probability(models[0](batch.x), batch.y) > self.config.k

    def loss(self, models: Models, batch: Batch, step: Step) -> tuple[Losses, Log]:
        logits = models[0](batch.x)
        if self.config.form == "plain":
            return self.gce(logits, batch.y), {}
        kept = self.kept[batch.index]
        log: Log = {SELECTED: kept[None], "kept": kept.float().mean()}
        return self.gce.masked(logits, batch.y, kept), log
