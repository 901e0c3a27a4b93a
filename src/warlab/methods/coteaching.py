"""Co-Teaching: two networks, each trained on the samples of the batch on which the other has a small loss.

    S_m = the share 1 - R(e) of the samples, those with the smallest CE of network m
    L_1 = mean_{i in S_2} CE(p_1(x_i), y_i),   L_2 = mean_{i in S_1} CE(p_2(x_i), y_i)

R(e) rises linearly to the forget rate tau. With tau = 0 these are two CCE runs on the same batches.
Han et al., Co-teaching: robust training of deep neural networks with extremely noisy labels, 2018.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from warlab.common.setting import setting
from warlab.methods._selection import Selecting, exchange
from warlab.methods.base import SELECTED, Batch, Log, Losses, Step


@dataclass(frozen=True)
class Config:
    forget: str | float = setting(  # tau, by a name of `forget_rate` or as a number
        "nominal", "baseline's code", choices=("nominal", "realised", "halved", "estimated"), minimum=0, below=1
    )
    ramp: int = setting(10, "baseline's code", unit="epochs")  # T_k
    exponent: float = setting(1.0, "baseline's code", minimum=0)  # c
    # "twice" is the baseline's code: a mean that is divided by k again
    division: str = setting("once", "our choice", choices=("once", "twice"))


class Algorithm(Selecting):
    label = "Co-Teaching"
    images_only = ("forget", "estimated")

    def selected_loss(self, logits: Sequence[Tensor], batch: Batch, step: Step) -> tuple[Losses, Log]:
        kept = self.count_kept(len(batch.y), step)
        losses, selected = exchange(logits, batch.y, kept, self.config.division)
        return losses, {SELECTED: selected}
