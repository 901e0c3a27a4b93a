"""Small-loss selection with two networks: what Co-Teaching, Co-Teaching+ and JoCoR share.

    R(e) = tau^c e / (T_k - 1)   in the first T_k epochs e = 0, 1, …,   then tau        the share that is forgotten
    k    = int((1 - R(e)) n)     of n samples, those with the smallest losses           are kept

If k is 0 all n samples are kept, as in the code of Co-Teaching+ (the others' code then divides by zero).
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from warlab.errors import WarlabError
from warlab.methods.base import Method, Step, Task


class Selecting(Method):
    """Two networks that forget the share R of every batch; `config` has `forget`, `ramp` and `exponent`."""

    n_models = 2

    def __init__(self, config: Any, task: Task) -> None:
        super().__init__(config, task)
        self.tau = forget_rate(config.forget, task)

    def forgotten(self, step: Step) -> float:
        """R of this epoch."""
        return forgotten(step.epoch, self.tau, self.config.ramp, self.config.exponent)


def forget_rate(setting: str | float, task: Task) -> float:
    """tau by its name, or the number itself.

    nominal   the rate by which the noise is called: 0.4 for asym-40
    realised  the share of all labels that are wrong: about 0.2 for asym-40, where half of the classes stay clean
    halved    JoCoR's code: half of the nominal rate for every asymmetric noise, the nominal rate otherwise
    """
    asymmetric = task.noise_kind.startswith("asym")
    named = {
        "nominal": task.noise_rate,
        "realised": task.realised_rate,
        "halved": task.noise_rate / 2 if asymmetric else task.noise_rate,
    }
    if isinstance(setting, str) and setting not in named:
        raise WarlabError(f"The forget rate is {', '.join(named)} or a number, not {setting!r}.")
    return named[setting] if isinstance(setting, str) else float(setting)


def forgotten(epoch: int, tau: float, ramp: int, exponent: float) -> float:
    """R(e); a ramp of 0 or 1 epochs is none."""
    if epoch >= ramp:
        return tau
    return tau**exponent * epoch / max(1, ramp - 1)


def smallest(losses: Tensor, forget: float) -> Tensor:
    """The places of the k smallest of n losses."""
    kept = int((1 - forget) * len(losses)) or len(losses)
    return losses.detach().argsort(stable=True)[:kept]


def mask_of(places: Tensor, n: int) -> Tensor:
    """(n,), true at these places."""
    return torch.zeros(n, dtype=torch.bool, device=places.device).index_fill_(0, places, True)


def exchange(scores: Sequence[Tensor], y: Tensor, forget: float, division: str) -> tuple[list[Tensor], Tensor]:
    """Each network learns from the samples that the other finds easy: two losses, and the mask (2, n) of these samples.

    `scores` are two tensors (n, C) for a cross entropy. Division "twice" divides its mean by k once more, as the
    published code does; under Adam a constant factor changes nothing.
    """
    if division not in ("once", "twice"):
        raise WarlabError(f"The mean over the selected samples is divided once or twice, not {division!r}.")
    first, second = (smallest(cross_entropy(s.detach(), y, reduction="none"), forget) for s in scores)
    losses = [cross_entropy(s[own], y[own]) for s, own in zip(scores, (second, first), strict=True)]
    if division == "twice":
        losses = [loss / len(first) for loss in losses]
    return losses, torch.stack([mask_of(second, len(y)), mask_of(first, len(y))])
