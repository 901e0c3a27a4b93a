"""D2L: when the dimensionality of the representation begins to grow, the labels are trusted less and less.

At the start of every epoch t the mean LID of 1280 samples is estimated in batches of 128, before the classifier:

    turning point   LID_t - mean(window) > 2 std(window),  window = the 5 values before, after init_epoch + 5 values
    alpha_t = exp( -(t / T) LID_t / min_{s<=t} LID_s )  from then on, 1 before
    L = mean_i CE(alpha_t y_i + (1 - alpha_t) onehot(argmax p(x_i)), p(x_i))

Nothing is rolled back at the turning point: the checkpoint that the published code loads there is the one of the epoch
before, which has the current weights. Until then the loss is CCE (the code of 2018 also clips the labels).
Ma et al., Dimensionality-driven learning with noisy labels, 2018.
"""

import logging
import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from warlab.common.setting import setting
from warlab.losses.probabilities import soft_cross_entropy, to_one_hot
from warlab.methods.base import Batch, Log, Losses, Method, Models, Samples, Step, Task, evaluating, features

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Config:
    neighbours: int = setting(20, "baseline's code", minimum=2)  # a single one tells nothing
    samples: int = setting(1280, "baseline's code", minimum=3)
    batch: int = setting(128, "baseline's code", minimum=3)  # in which the neighbours are searched
    window: int = setting(5, "baseline's code", minimum=1)  # estimates, not epochs: the same at every scale
    init_epoch: int = setting(40, "baseline's code", unit="epochs")  # for CIFAR-10


class Algorithm(Method):
    label = "D2L"
    images_only = True  # it takes 1280 samples by their numbers
    saved = ("lids", "turned", "alpha")

    def __init__(self, config: Config, task: Task) -> None:
        super().__init__(config, task)
        self.lids: list[float] = []
        self.turned = False
        self.alpha = 1.0

    def on_epoch_start(self, models: Models, step: Step, samples: Samples) -> None:
        self.observe(self.estimate(models[0], samples), step)

    def estimate(self, model: nn.Module, samples: Samples) -> float:
        """Return the mean LID of a random subset; NaN if there is no value in it."""
        chosen = torch.randperm(len(samples))[: self.config.samples].to(self.task.device)
        with evaluating(model):
            parts = [features(model, samples.batch(part).x) for part in chosen.split(self.config.batch)]
        values = torch.cat([lid(part, self.config.neighbours) for part in parts])
        return float(values[values.isfinite() & (values > 0)].mean())

    def observe(self, value: float, step: Step) -> None:
        """Record LID_t and set alpha_t; an impossible value is replaced by the one before."""
        if not (math.isfinite(value) and value > 0):
            before = (self.lids or [1.0])[-1]
            logger.info(
                f"the LID of epoch {step.epoch + 1} cannot be estimated ({value}); {before:.3g} is used instead"
            )
            value = before
        self.lids = [*self.lids, value]
        if len(self.lids) > self.config.init_epoch + self.config.window:
            window = self.lids[-self.config.window - 1 : -1]
            self.turned = self.turned or bool(self.lids[-1] - np.mean(window) > 2 * np.std(window))
        if self.turned:
            self.alpha = math.exp(-step.epoch / step.epochs * self.lids[-1] / min(self.lids))

    def loss(self, models: Models, batch: Batch, step: Step) -> tuple[Losses, Log]:
        logits = models[0](batch.x)
        label, predicted = (to_one_hot(classes, self.task.classes) for classes in (batch.y, logits.argmax(1)))
        target = self.alpha * label + (1 - self.alpha) * predicted
        return soft_cross_entropy(logits, target).mean(), {"lid": self.lids[-1], "alpha": self.alpha}


def lid(points: Tensor, neighbours: int) -> Tensor:
    """Local intrinsic dimensionality by maximum likelihood from the distances r_j to the k nearest neighbours:

        LID(x) = - k / sum_{j=1..k} log( r_j(x) / r_k(x) + 1e-8 )

    (n, d) → (n,), with neighbours among the n points themselves; not finite for one or two points, and where all
    neighbours are equally far. Amsaleg et al., Estimating local intrinsic dimensionality, 2015; the constant is in the
    code of D2L.
    """
    k = min(neighbours, len(points) - 1)
    # Not by matrix products, whose rounding is as large as the distances of near neighbours.
    distances = torch.cdist(points, points, compute_mode="donot_use_mm_for_euclid_dist")
    near = distances.fill_diagonal_(torch.inf).sort(1).values[:, :k]
    ratios = near / near[:, -1:].clamp_min(torch.finfo(points.dtype).tiny) if k else near
    return -k / torch.log(ratios + 1e-8).sum(1)
