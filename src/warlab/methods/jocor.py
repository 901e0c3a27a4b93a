"""JoCoR: two networks with one joint loss, trained on the samples where it is small.

    l_i = (1 - lam) ( CE(p_1(x_i), y_i) + CE(p_2(x_i), y_i) ) + lam ( KL(p_1 || p_2) + KL(p_2 || p_1) )(x_i)
    L   = mean of the smallest l_i, the share 1 - R(e) of them

No gradient is stopped. One Adam over both networks, as in the original, moves them exactly as two do. With lam = 0 and
nothing forgotten this is the sum of two CCE losses. Under SGD, unlike under Adam, lam = 0.85 makes the steps of the
cross entropies 0.15 times as long; `scale` can undo that.
Wei et al., Combating noisy labels by agreement: a joint training method with co-regularization, 2020.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import cross_entropy, log_softmax

from warlab.common.setting import setting
from warlab.errors import WarlabError
from warlab.methods._selection import Selecting, make_mask, mean, select_smallest
from warlab.methods.base import SELECTED, Batch, Log, Losses, Step, Task


@dataclass(frozen=True)
class Config:
    lam: float = setting(0.9, "baseline's author", minimum=0, maximum=1)  # for CIFAR-10; 0.1 is the code's default
    forget: str | float = setting(  # tau, by a name of `forget_rate` or as a number
        "halved", "baseline's code", choices=("nominal", "realised", "halved", "estimated"), minimum=0, below=1
    )
    ramp: int = setting(10, "baseline's code", unit="epochs")
    exponent: float = setting(1.0, "baseline's code", minimum=0)
    # "cross_entropy" is L / (1 - lam), in which the cross entropies have the weight 1; for SGD, see fidelity.yaml
    scale: str = setting("formula", "baseline's code", choices=("formula", "cross_entropy"))


class Algorithm(Selecting):
    label = "JoCoR"
    images_only = ("forget", "estimated")

    def __init__(self, config: Config, task: Task) -> None:
        super().__init__(config, task)
        if config.scale == "cross_entropy" and config.lam == 1:
            raise WarlabError("JoCoR: the scale cross_entropy needs a lam below 1; set another lam or scale.")
        self.unit = 1 - config.lam if config.scale == "cross_entropy" else 1.0

    def selected_loss(self, logits: Sequence[Tensor], batch: Batch, step: Step) -> tuple[Losses, Log]:
        first, second = logits
        supervised = cross_entropy(first, batch.y, reduction="none") + cross_entropy(second, batch.y, reduction="none")
        joint = (1 - self.config.lam) * supervised + self.config.lam * disagreement(first, second)
        kept = self.count_kept(len(joint), step)
        chosen = select_smallest(joint, kept)
        return mean(joint[chosen]) / self.unit, {SELECTED: make_mask(chosen, len(joint))[None]}


def disagreement(first: Tensor, second: Tensor) -> Tensor:
    """KL(p_1 || p_2) + KL(p_2 || p_1) = sum_c (p_1 - p_2)_c (log p_1 - log p_2)_c: (B,)"""
    log_1, log_2 = log_softmax(first, 1), log_softmax(second, 1)
    return ((log_1.exp() - log_2.exp()) * (log_1 - log_2)).sum(1)
