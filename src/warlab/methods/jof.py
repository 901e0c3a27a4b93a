"""JOF: joint optimisation of the network and the labels, then a fresh network on the new labels.

Step 1, with soft labels s (N, C), at first one-hot, and a uniform prior:

    L = - mean_i sum_c s_ic log p_c(x_i) - alpha sum_c prior_c log( mean_i p_c(x_i) ) + beta mean_i H(p(x_i))
    s_i = mean of p(x_i) as seen in training over the last `memory` epochs, renewed in every epoch from `begin` on

Step 2, from the epoch `retrain` on: a fresh network, L = - mean_i sum_c s_ic log p_c(x_i) with the final s. The
learning rate is constant in step 1, and divided by ten after each third of step 2.
Tanaka et al., Joint optimization framework for learning with noisy labels, 2018.
"""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from warlab.common.setting import setting
from warlab.losses.probabilities import EPSILON, entropy, soft_cross_entropy, to_one_hot
from warlab.methods.base import Batch, Log, Losses, Method, Models, Samples, Step, Task


@dataclass(frozen=True)
class Config:
    alpha: float = setting(0.8, "baseline's code", minimum=0)  # for CIFAR-10 with asymmetric noise
    beta: float = setting(0.4, "baseline's code", minimum=0)  # the same
    # 70 and 200 of 320 epochs in the baseline's code, of 120 here
    begin: int = setting(26, "our choice", unit="epochs")  # the first epoch with new labels
    memory: int = setting(10, "baseline's code", unit="epochs", maximum=1000)  # a table of all images for each
    retrain: int = setting(75, "our choice", unit="epochs")  # the first epoch of step 2


class Algorithm(Method):
    label = "JOF"
    images_only = True  # a pixel may be in no patch of an epoch
    saved = ("targets", "history")

    def __init__(self, config: Config, task: Task) -> None:
        super().__init__(config, task)
        self.targets = to_one_hot(task.labels, task.classes)
        self.history = self.targets.new_zeros(max(1, config.memory), len(task.labels), task.classes)

    def restarts(self, step: Step) -> bool:
        return step.epoch == self.config.retrain

    def lr(self, step: Step, scheduled: Callable[[int], float]) -> float:
        since, length = step.epoch - self.config.retrain, step.epochs - self.config.retrain
        return scheduled(0) / 10 ** max(0, 3 * since // max(1, length))

    def on_epoch_start(self, models: Models, step: Step, samples: Samples) -> None:
        if self.config.begin <= step.epoch <= self.config.retrain and step.epoch > 0:
            self.targets = self.history[: step.epoch].mean(0)
        if step.epoch >= self.config.retrain:
            self.history = self.history[:0].clone()  # no longer needed, and part of every checkpoint

    def loss(self, models: Models, batch: Batch, step: Step) -> tuple[Losses, Log]:
        logits, target = models[0](batch.x), self.targets[batch.index]
        fit = soft_cross_entropy(logits, target).mean()
        log: Log = {"moved": (target.argmax(1) != batch.y).float().mean()}
        if step.epoch >= self.config.retrain:
            return fit, log
        self.history[step.epoch % len(self.history), batch.index] = logits.detach().softmax(1)
        return fit + self.config.alpha * balance(logits) + self.config.beta * entropy(logits).mean(), log


def balance(logits: Tensor) -> Tensor:
    """Cross entropy of the uniform prior and the batch's mean prediction, so that no class absorbs the others."""
    return -logits.softmax(1).mean(0).clamp_min(EPSILON).log().mean()
