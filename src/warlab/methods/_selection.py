"""Small-loss selection with two networks: what Co-Teaching, Co-Teaching+ and JoCoR share.

    R(e) = tau^c e / (T_k - 1)   in the first T_k epochs e = 0, 1, …,   then tau        the share that is forgotten
    k    = int((1 - R(e)) n + r)     of n samples, those with the smallest losses       are kept

The remainder r, below 1, is carried from batch to batch. The published codes drop it, which matters in small batches:
of 16 samples at R = 0.4 they forget 7, or 43.75 %. In batches of 256 the two differ by one sample at most. If k is 0
nothing is learned from the batch; the code of Co-Teaching+ then keeps all n samples, and the others' divides by zero.

tau "estimated" needs no rate: in the first T_k epochs nothing is forgotten and each network learns from one half of the
samples, those with an even or an odd index. Then tau is estimated once, from the predictions of each network for the
other half, which it has not seen (`_noise_rate`).
"""

import logging
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from warlab.errors import WarlabError
from warlab.methods._noise_rate import noise_rate
from warlab.methods.base import SELECTED, Batch, Log, Losses, Method, Models, Samples, Step, Task, evaluating

logger = logging.getLogger(__name__)
ESTIMATED = "estimated"
MOST = 0.9  # the largest share that is forgotten after an estimate


class Selecting(Method):
    """Two networks that forget the share R of every batch; `config` has `forget`, `ramp` and `exponent`."""

    n_models = 2
    saved = ("tau", "remainder")

    def __init__(self, config: Any, task: Task) -> None:
        super().__init__(config, task)
        self.estimates = config.forget == ESTIMATED
        if self.estimates and config.ramp < 1:
            raise WarlabError("The forget rate can be estimated after a first epoch only; set `ramp` to 1 or more.")
        self.tau = 0.0 if self.estimates else forget_rate(config.forget, task)
        self.remainder = 0.0

    def loss(self, models: Models, batch: Batch, step: Step) -> tuple[Losses, Log]:
        logits = [model(batch.x) for model in models]
        if self.estimates and step.epoch < self.config.ramp:
            return split_losses(logits, batch)
        return self.selected_loss(logits, batch, step)

    @abstractmethod
    def selected_loss(self, logits: Sequence[Tensor], batch: Batch, step: Step) -> tuple[Losses, Log]:
        """Return the losses on the samples that are kept, from the outputs of both networks."""

    def on_epoch_start(self, models: Models, step: Step, samples: Samples) -> None:
        if self.estimates and step.epoch == 0:
            next(iter(samples.ordered_batches()))  # samples that cannot be listed fail here, not after the warm-up
        if self.estimates and step.epoch == self.config.ramp:
            self.tau = min(MOST, noise_rate(*_predict_unseen(models, samples)))
            logger.info(f"estimated share of wrong labels, which is forgotten from now on: {self.tau:.3f}")

    def count_kept(self, n: int, step: Step) -> int:
        """Return how many of the next n samples are kept, and carry the remainder."""
        share = 1 - forget_share(step.epoch, self.tau, self.config.ramp, self.config.exponent)
        wanted = share * n + self.remainder
        kept = int(wanted + 1e-6)  # 0.6 · 5 may be 2.999…
        self.remainder = wanted - kept
        return kept


def split_losses(logits: Sequence[Tensor], batch: Batch) -> tuple[list[Tensor], Log]:
    """Cross entropy of each network on its half of the samples: the first network has the even indices."""
    losses = [cross_entropy(one, batch.y, reduction="none") for one in logits]
    halves = torch.stack([batch.index % 2 == number for number in range(len(logits))])
    means = [(loss * half).sum() / half.sum().clamp_min(1) for loss, half in zip(losses, halves, strict=True)]
    return means, {SELECTED: halves}


def _predict_unseen(models: Models, samples: Samples) -> tuple[Tensor, Tensor]:
    """Return probabilities and noisy labels of all samples, each predicted by the network that did not see it."""
    parts = []
    with evaluating(*models):
        for batch in samples.ordered_batches():
            even, odd = (model(batch.x).softmax(1) for model in models)
            parts.append((torch.where((batch.index % 2 == 0)[:, None], odd, even), batch.y))
    p, y = zip(*parts, strict=True)
    return torch.cat(p), torch.cat(y)


def forget_rate(setting: str | float, task: Task) -> float:
    """tau by its name, or the number itself.

    nominal   the rate in the name of the noise: 0.4 for asym-40
    realised  the share of all labels that are wrong: about 0.2 for asym-40, where half of the classes stay clean
    halved    JoCoR's code: half of the nominal rate for every asymmetric noise, the nominal rate otherwise

    The fourth name, estimated, is not known beforehand: see `Selecting`.
    """
    asymmetric = task.noise_kind.startswith("asym")
    named = {
        "nominal": task.noise_rate,
        "realised": task.realised_rate,
        "halved": task.noise_rate / 2 if asymmetric else task.noise_rate,
    }
    return named[setting] if isinstance(setting, str) else float(setting)


def forget_share(epoch: int, tau: float, ramp: int, exponent: float) -> float:
    """R(e); with 0 or 1 epochs there is no ramp."""
    if epoch >= ramp:
        return tau
    return tau**exponent * epoch / max(1, ramp - 1)


def select_smallest(losses: Tensor, kept: int) -> Tensor:
    return losses.detach().argsort(stable=True)[:kept]


def mean(losses: Tensor) -> Tensor:
    """Return the mean, or 0 without samples."""
    return losses.sum() / max(1, len(losses))


def make_mask(index: Tensor, n: int) -> Tensor:
    return torch.zeros(n, dtype=torch.bool, device=index.device).index_fill_(0, index, True)


def exchange(scores: Sequence[Tensor], y: Tensor, kept: int, division: str) -> tuple[list[Tensor], Tensor]:
    """Each network learns from the samples that the other finds easy: two losses, and the mask (2, n) of these samples.

    `scores` are two tensors (n, C) for a cross entropy. Division "twice" divides its mean by k once more, as the
    published code does; under Adam a constant factor changes nothing.
    """
    first, second = (select_smallest(cross_entropy(s.detach(), y, reduction="none"), kept) for s in scores)
    losses = [mean(cross_entropy(s[i], y[i], reduction="none")) for s, i in zip(scores, (second, first), strict=True)]
    if division == "twice":
        losses = [loss / max(1, kept) for loss in losses]
    return losses, torch.stack([make_mask(second, len(y)), make_mask(first, len(y))])
