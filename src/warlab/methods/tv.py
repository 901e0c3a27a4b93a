"""TV: adversarial regularisation with the total variation, computed directly.

    R(x) = 1/2 || p(x + r) - sg[p(x)] ||_1

Exact transport under the 0-1 cost: compared with WAR_0-1 it separates the effect of the cost from that of the
unconverged Sinkhorn. Not in the paper's tables.
"""

from dataclasses import dataclass

from warlab.common.setting import setting
from warlab.methods._regularised import Regularised
from warlab.war.tv import TVLoss


@dataclass(frozen=True)
class Config:
    beta: float = setting(10.0, "our choice", minimum=0)  # as WAR, whose 0-1 case it is
    epsilon: float = setting(0.005, "our choice", minimum=0)
    # in place of epsilon: a share of each sample's norm
    relative_epsilon: float | None = setting(None, "our choice", above=0)
    warmup: int = setting(15, "our choice", unit="epochs")
    dropout: str = setting("independent", "authors' code", choices=("independent", "shared", "off"))  # of extra passes
    batchnorm_update: bool = setting(True, "authors' code")
    # "mean" is the authors' scaling, too short without dropout; "random" and "gaussian" are controls without a gradient
    direction: str = setting("sum", "our choice", choices=("sum", "mean", "random", "gaussian"))
    power_iterations: int = setting(1, "paper", minimum=1, maximum=1000)


class Algorithm(Regularised):
    label = "TV"

    def make_loss(self) -> TVLoss:
        return TVLoss.paper(**self.options())
