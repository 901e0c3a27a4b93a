"""AR: adversarial regularisation with the Kullback-Leibler divergence."""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from warlab.errors import WarlabError
from warlab.war.adversarial import AdversarialLoss


@dataclass(eq=False, repr=False)
class ARLoss(AdversarialLoss):
    r"""Adversarial regularisation with the Kullback-Leibler divergence: virtual adversarial training on all samples.

    .. math:: R(x) = KL(sg[p(x)]\ \|\ p(x + r))

    Parameters
    ----------
    order : "code" or "paper"
        "code" is the formula above, as in the authors' code and in Miyato et al. 2018, and the default; "paper" is
        KL(p(x + r) || p(x)), as printed in the paper and used in Proposition 1.
    epsilon, relative_epsilon, dropout, batchnorm_update, direction, power_iterations, class_dim
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

    order: Literal["code", "paper"] = "code"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.order not in ("code", "paper"):
            raise WarlabError(f"The order of AR's divergence must be code or paper, not {self.order!r}.")

    def divergence(self, adversarial: Tensor, clean: Tensor) -> Tensor:
        first, second = (clean, adversarial) if self.order == "code" else (adversarial, clean)
        return kl_divergence(first, second)


def kl_divergence(p: Tensor, q: Tensor) -> Tensor:
    """KL(p || q) per row, finite where a probability has underflowed to zero."""
    tiny = torch.finfo(p.dtype).tiny
    return (p * (p.clamp_min(tiny).log() - q.clamp_min(tiny).log())).sum(1)
