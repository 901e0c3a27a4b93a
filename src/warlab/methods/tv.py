"""TV: adversarial regularisation with the total variation, computed directly.

    R(x) = 1/2 || p(x + r) - sg[p(x)] ||_1

Exact transport under the 0-1 cost: beside WAR_0-1 it shows what is the cost and what the unconverged Sinkhorn.
Not in the paper's tables.
"""

from dataclasses import dataclass

from warlab.losses.regulariser import AdversarialLoss
from warlab.losses.tv_loss import TVLoss
from warlab.methods._regularised import Regularised


@dataclass(frozen=True)
class Config:
    beta: float = 10.0  # our choice: as WAR, whose 0-1 case it is
    epsilon: float = 0.005  # paper
    warmup: int = 15  # epochs, paper
    dropout: str = "independent"  # masks of the extra passes, authors' code
    batchnorm_update: bool = True  # authors' code
    direction: str = "sum"  # our choice: "mean" is the authors' scaling, too short without dropout
    power_iterations: int = 1  # paper


class Algorithm(Regularised):
    label = "TV"

    def make_regulariser(self) -> AdversarialLoss:
        return TVLoss(**self.options())
