"""WAR: Wasserstein adversarial regularisation, equation 5 of the paper; the loss itself is `warlab.war.WARLoss`.

    R(x) = OT_C^lambda( p(x + r), sg[p(x)] )

The variants of the paper (war_01, war_w2v, war_embed, war_random) differ in the ground cost C alone.
"""

from dataclasses import dataclass

from warlab.errors import WarlabError
from warlab.methods._regularised import Regularised
from warlab.war import AdversarialLoss, WARLoss


@dataclass(frozen=True)
class Config:
    cost: str = "w2v"  # which ground cost the workflow hands in
    beta: float = 10.0  # paper
    epsilon: float = 0.005  # paper
    lam: float = 0.05  # paper
    iterations: int = 20  # paper
    warmup: int = 15  # epochs, paper
    dropout: str = "independent"  # masks of the extra passes, authors' code
    batchnorm_update: bool = True  # authors' code
    direction: str = "sum"  # our choice: "mean" is the authors' scaling, too short without dropout


class Algorithm(Regularised):
    label = "WAR"

    def make_regulariser(self) -> AdversarialLoss:
        if self.task.cost is None:
            raise WarlabError("WAR needs a ground cost between classes; name one in its settings (cost: w2v).")
        return WARLoss(self.task.cost, lam=self.config.lam, iterations=self.config.iterations, **self.options())
