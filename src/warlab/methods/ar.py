"""AR: adversarial regularisation with the Kullback-Leibler divergence (virtual adversarial training on labelled data).

    R(x) = KL( sg[p(x)] || p(x + r) ),   r the adversarial direction of length epsilon

Miyato et al., Virtual adversarial training, 2018; the paper's equation 3.
"""

from dataclasses import dataclass

from warlab.common.setting import setting
from warlab.methods._regularised import Regularised
from warlab.war.ar import ARLoss


@dataclass(frozen=True)
class Config:
    beta: float = setting(5.0, "paper", minimum=0)
    epsilon: float = setting(0.005, "paper", minimum=0)
    # in place of epsilon: a share of each sample's norm
    relative_epsilon: float | None = setting(None, "our choice", above=0)
    warmup: int = setting(15, "paper", unit="epochs")
    dropout: str = setting("independent", "authors' code", choices=("independent", "shared", "off"))  # of extra passes
    batchnorm_update: bool = setting(True, "authors' code")
    order: str = setting("code", "authors' code", choices=("code", "paper"))  # code: KL(clean || adversarial)
    # "mean" is the authors' scaling, too short without dropout; "random" and "gaussian" are controls without a gradient
    direction: str = setting("sum", "our choice", choices=("sum", "mean", "random", "gaussian"))
    power_iterations: int = setting(1, "paper", minimum=1, maximum=1000)


class Algorithm(Regularised):
    label = "AR"

    def make_loss(self) -> ARLoss:
        return ARLoss.paper(self.config.order, **self.options())
