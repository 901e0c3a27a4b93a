"""JoCoR: two networks with one joint loss, trained on the samples where it is small.

    l_i = (1 - lam) ( CE(p_1(x_i), y_i) + CE(p_2(x_i), y_i) ) + lam ( KL(p_1 || p_2) + KL(p_2 || p_1) )(x_i)
    L   = mean of the int((1 - R(e)) B) smallest l_i

No gradient is stopped. One Adam over both networks, as in the original, moves them exactly as two do. With lam = 0 and
nothing forgotten this is the sum of two CCE losses.
Wei et al., Combating noisy labels by agreement: a joint training method with co-regularization, 2020.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import cross_entropy, log_softmax

from warlab.methods._selection import Selecting, mask_of, smallest
from warlab.methods.base import SELECTED, Batch, Log, Losses, Step


@dataclass(frozen=True)
class Config:
    lam: float = 0.9  # baseline's author for CIFAR-10; the default of the code is 0.1
    forget: str | float = "halved"  # tau, baseline's code; or "nominal", "realised", "estimated", or a number
    ramp: int = 10  # epochs, baseline's code
    exponent: float = 1.0  # baseline's code


class Algorithm(Selecting):
    label = "JoCoR"

    def selected_loss(self, logits: Sequence[Tensor], batch: Batch, step: Step) -> tuple[Losses, Log]:
        first, second = logits
        supervised = cross_entropy(first, batch.y, reduction="none") + cross_entropy(second, batch.y, reduction="none")
        joint = (1 - self.config.lam) * supervised + self.config.lam * disagreement(first, second)
        chosen = smallest(joint, self.forgotten(step))
        return joint[chosen].mean(), {SELECTED: mask_of(chosen, len(batch.y))[None]}


def disagreement(first: Tensor, second: Tensor) -> Tensor:
    """KL(p_1 || p_2) + KL(p_2 || p_1) = sum_c (p_1 - p_2)_c (log p_1 - log p_2)_c: (B,)"""
    log_1, log_2 = log_softmax(first, 1), log_softmax(second, 1)
    return ((log_1.exp() - log_2.exp()) * (log_1 - log_2)).sum(1)
