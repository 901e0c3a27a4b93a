"""AR: adversarial regularisation with the Kullback-Leibler divergence (virtual adversarial training on labelled data).

    R(x) = KL( sg[p(x)] || p(x + r) ),   r the adversarial direction of length epsilon

Miyato et al., Virtual adversarial training, 2018; the paper's equation 3.
"""

from dataclasses import dataclass

from warlab.losses.ar_loss import ARLoss
from warlab.losses.regulariser import AdversarialLoss
from warlab.methods._regularised import Regularised


@dataclass(frozen=True)
class Config:
    beta: float = 5.0  # paper
    epsilon: float = 0.005  # paper
    warmup: int = 15  # epochs, paper
    dropout: str = "independent"  # masks of the extra passes, authors' code
    batchnorm_update: bool = True  # authors' code
    order: str = "code"  # KL(clean || adversarial); "paper" is the other way round
    direction: str = "sum"  # our choice: "mean" is the authors' scaling, too short without dropout
    power_iterations: int = 1  # paper


class Algorithm(Regularised):
    label = "AR"

    def make_regulariser(self) -> AdversarialLoss:
        return ARLoss(order=self.config.order, **self.options())
