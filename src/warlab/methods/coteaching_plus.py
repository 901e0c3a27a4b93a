"""Co-Teaching+: after a warm-up by Co-Teaching, only samples on which the two networks disagree are used.

    D   = { i : argmax p_1(x_i) != argmax p_2(x_i) }
    S_m = the share 1 - R(e) of the samples of D, those with the smallest CE of network m;  L_1 over S_2, L_2 over S_1

Where D is empty both networks take the CE of the whole batch. Reading "code", which made the paper's numbers: in the
second phase softmax outputs enter a cross entropy that applies softmax again, and an empty D counts only while
epoch * batch < 5000. Among 256 samples D is rarely empty; of batches of 16, a quarter to two fifths teach nothing then.
Reading "fixed" is the formula above. With division "twice" the reading "code" divides means by their number once more,
as the original does: this hardly matters under its Adam, but under SGD it divides the rate.
Yu et al., How does disagreement help generalization against label corruption?, 2019.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from warlab.common.setting import setting
from warlab.methods._selection import Selecting, exchange
from warlab.methods.base import SELECTED, Batch, Log, Losses, Step, Task

EARLY = 5000  # epoch * batch until which agreeing networks are trained, baseline's code


@dataclass(frozen=True)
class Config:
    init_epoch: int = setting(20, "paper", unit="epochs")  # before the disagreement counts: Co-Teaching
    forget: str | float = setting(  # tau, by a name of `forget_rate` or as a number
        "nominal", "baseline's code", choices=("nominal", "realised", "halved", "estimated"), minimum=0, below=1
    )
    ramp: int = setting(10, "baseline's code", unit="epochs")
    exponent: float = setting(1.0, "baseline's code", minimum=0)
    reading: str = setting("code", "baseline's code", choices=("code", "fixed"))  # code: what the paper ran
    # "twice" is the baseline's code. A factor of the loss hardly matters under Adam; under SGD the rate would be about
    # 1e-4 instead of 0.01.
    division: str = setting("once", "our choice", choices=("once", "twice"))


class Algorithm(Selecting):
    label = "Co-Teaching+"
    images_only = ("forget", "estimated")

    def __init__(self, config: Config, task: Task) -> None:
        super().__init__(config, task)
        self.as_published = config.reading == "code"
        self.division = config.division if self.as_published else "once"

    def selected_loss(self, logits: Sequence[Tensor], batch: Batch, step: Step) -> tuple[Losses, Log]:
        if step.epoch < self.config.init_epoch:
            kept = self.count_kept(len(batch.y), step)
            losses, selected = exchange(logits, batch.y, kept, self.division)
            return losses, {SELECTED: selected}
        scores = [one.softmax(1) for one in logits] if self.as_published else logits
        disagree = logits[0].argmax(1) != logits[1].argmax(1)
        losses, log = self.disagreement_losses(scores, batch.y, disagree, step)
        return losses, {**log, "disagreement": disagree.float().mean()}

    def disagreement_losses(
        self, scores: Sequence[Tensor], y: Tensor, disagree: Tensor, step: Step
    ) -> tuple[list[Tensor], Log]:
        """Return the two losses, and the mask (2, B) of the samples behind them."""
        if not disagree.any():
            used = not self.as_published or step.epoch * step.batch < EARLY
            everything = torch.ones(2, len(y), dtype=torch.bool, device=y.device)
            return [used * cross_entropy(s, y) for s in scores], {SELECTED: everything & used}
        kept = self.count_kept(int(disagree.sum()), step)
        losses, chosen = exchange([s[disagree] for s in scores], y[disagree], kept, self.division)
        selected = torch.zeros(2, len(y), dtype=torch.bool, device=y.device)
        selected[:, disagree] = chosen
        return losses, {SELECTED: selected}
