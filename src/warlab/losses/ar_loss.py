"""AR: the loss of `warlab.war` with the Kullback-Leibler divergence."""

from typing import Literal

from torch import Tensor

from warlab.adversarial import Dropout
from warlab.errors import WarlabError
from warlab.losses.logits import kl_divergence
from warlab.losses.regulariser import AdversarialLoss, Direction


class ARLoss(AdversarialLoss):
    r"""Adversarial regularisation with the Kullback-Leibler divergence: virtual adversarial training on all samples.

    .. math:: R(x) = KL(sg[p(x)]\ \|\ p(x + r))

    Parameters
    ----------
    order : "code" or "paper"
        "code" is the formula above, of the authors' code and of Miyato et al. 2018, and the default; "paper" is
        KL(p(x + r) || p(x)), the one that the paper prints and Proposition 1 speaks of.
    epsilon, dropout, batchnorm_update, direction, power_iterations, class_dim
        As in `WARLoss`, with the same defaults, sources and costs of a step; direction cannot be "clean".

    Examples
    --------
    >>> import torch
    >>> from warlab import ARLoss
    >>> _ = torch.manual_seed(0)
    >>> model, x = torch.nn.Linear(8, 3), torch.randn(16, 8)
    >>> value = ARLoss(epsilon=0.5)(model, x)
    >>> value.shape, bool(value > 0)
    (torch.Size([]), True)
    """

    def __init__(
        self,
        order: Literal["code", "paper"] = "code",
        *,
        epsilon: float = 0.005,
        dropout: Dropout = "independent",
        batchnorm_update: bool = True,
        direction: Direction = "sum",
        power_iterations: int = 1,
        class_dim: int | None = None,
    ) -> None:
        super().__init__(epsilon, dropout, batchnorm_update, direction, power_iterations, class_dim)
        if order not in ("code", "paper"):
            raise WarlabError(f"The order of AR's divergence must be code or paper, not {order!r}.")
        self.order = order

    def divergence(self, adversarial: Tensor, clean: Tensor) -> Tensor:
        first, second = (clean, adversarial) if self.order == "code" else (adversarial, clean)
        return kl_divergence(first, second)
