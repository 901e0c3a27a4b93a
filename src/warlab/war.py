"""Wasserstein Adversarial Regularization (WAR) for any PyTorch model and any training loop.

Equation 5 of the paper, for every sample x of a batch:

    R_WAR(x) = OT_C^lambda( p(x + r), p(x) )     with     r = argmax_{||r|| <= epsilon} OT_C^lambda( p(x + r), p(x) )

where C is a ground cost between classes and OT the sharp entropic transport of `warlab.ot.sinkhorn`. R_AR has the
Kullback-Leibler divergence in place of OT. Neither looks at a label. In a training loop:

    war = WARLoss(cost)                                  # (C, C): large between classes that resemble each other
    logits = model(x)
    loss = cross_entropy(logits, y) + (beta * war(model, x, logits) if epoch >= warm_up else 0)
    loss.backward()

The clean forward that the cross entropy needed anyway is reused, so a step costs 3 forwards and 2 backwards.
"""

from abc import ABC, abstractmethod
from typing import Literal

import torch
from torch import Tensor, nn

from warlab.adversarial import Dropout, extra_pass, perturbation, same_random_numbers
from warlab.errors import WarlabError
from warlab.ot.sinkhorn import needs_log_domain, sinkhorn
from warlab.precision import tf32_allowed


class AdversarialLoss(nn.Module, ABC):
    """Mean over the batch of D(p(x + r), sg[p(x)]), the gradient flowing through p(x + r) alone.

    epsilon           length of the perturbation, L2 over all values of one sample; with 0 no direction is searched,
                      and a step costs 2 forwards and 2 backwards
    dropout           masks of the extra passes: "independent" of the clean pass (authors' code), "shared" by all
                      three passes, or "off"; the last two cost one more forward, for a reference with these masks
    batchnorm_update  whether the extra passes move the running statistics (they do in the authors' code)
    direction         "sum", or "mean" for the authors' exact scaling: see `perturbation`
    power_iterations  gradients that the search of the direction takes; the paper's is one
    """

    def __init__(
        self,
        epsilon: float = 0.005,
        dropout: Dropout = "independent",
        batchnorm_update: bool = True,
        direction: Literal["sum", "mean"] = "sum",
        power_iterations: int = 1,
    ) -> None:
        super().__init__()
        if epsilon < 0:
            raise WarlabError(f"epsilon is the length of the perturbation and cannot be {epsilon}; give 0 or more.")
        if dropout not in ("independent", "shared", "off"):
            raise WarlabError(f"dropout must be independent, shared or off, not {dropout!r}.")
        if power_iterations < 1:
            raise WarlabError(f"power_iterations must be at least 1, not {power_iterations}.")
        self.epsilon = epsilon
        self.dropout = dropout
        self.batchnorm_update = batchnorm_update
        self.direction = direction
        self.power_iterations = power_iterations

    @abstractmethod
    def divergence(self, adversarial: Tensor, clean: Tensor) -> Tensor:
        """D per row of two (N, C) batches of probabilities; the subclass is named after it."""

    def forward(self, model: nn.Module, x: Tensor, logits: Tensor | None = None) -> Tensor:
        """The regulariser as a scalar. `logits` = model(x), if the loop has them; they are detached here."""
        x = x.detach().float()
        if logits is None or not self._reusable(logits):
            logits = None
        if self.dropout == "shared":
            model = _SameMasks(model)
        with extra_pass(model, self.dropout, self.batchnorm_update):
            reference = self._reference(model, x, logits)
            perturbed = x if self.epsilon == 0 else x + self._perturbation(model, x, reference)
            return self.divergence(probabilities(model(perturbed)), reference).mean()

    def _perturbation(self, model: nn.Module, x: Tensor, reference: Tensor) -> Tensor:
        return perturbation(
            lambda inputs: probabilities(model(inputs)),
            lambda adversarial, clean: _per_image(self.divergence(adversarial, clean), len(x)),
            x,
            reference,
            self.epsilon,
            self.direction,
            self.power_iterations,
        )

    def _reusable(self, logits: Tensor) -> bool:
        """Whether the loop's logits saw the dropout rule and the precision of the extra passes."""
        exact = logits.dtype == torch.float32 and not (logits.is_cuda and tf32_allowed())
        return exact and self.dropout == "independent"

    def _reference(self, model: nn.Module, x: Tensor, logits: Tensor | None) -> Tensor:
        """sg[p(x)]"""
        with torch.no_grad():
            return probabilities(model(x) if logits is None else logits)


class WARLoss(AdversarialLoss):
    """R_WAR of equation 5, with the cost, lambda = 0.05 and 20 Sinkhorn iterations of the paper."""

    cost: Tensor

    def __init__(self, cost: Tensor, lam: float = 0.05, iterations: int = 20, **options: object) -> None:
        super().__init__(**options)  # type: ignore[arg-type]
        cost = torch.as_tensor(cost, dtype=torch.float32)
        _check(cost, lam, iterations)
        self.register_buffer("cost", cost)
        self.lam = lam
        self.iterations = iterations
        self.log_domain = needs_log_domain(cost, lam)

    def divergence(self, adversarial: Tensor, clean: Tensor) -> Tensor:
        if adversarial.shape[1] != len(self.cost):
            raise WarlabError(
                f"The model predicts {adversarial.shape[1]} classes but the cost matrix has {len(self.cost)}; "
                "give a cost with one row per class."
            )
        cost = self.cost.to(adversarial)
        return sinkhorn(adversarial, clean, cost, self.lam, self.iterations, self.log_domain)


class ARLoss(AdversarialLoss):
    """R_AR: the Kullback-Leibler divergence, KL(sg[p(x)] || p(x + r)) as in the authors' code.

    order="paper" is the paper's formula KL(p(x + r) || p(x)), the one that Proposition 1 speaks of.
    """

    def __init__(self, order: Literal["code", "paper"] = "code", **options: object) -> None:
        super().__init__(**options)  # type: ignore[arg-type]
        if order not in ("code", "paper"):
            raise WarlabError(f"The order of AR's divergence must be code or paper, not {order!r}.")
        self.order = order

    def divergence(self, adversarial: Tensor, clean: Tensor) -> Tensor:
        first, second = (clean, adversarial) if self.order == "code" else (adversarial, clean)
        return kl_divergence(first, second)


class TVLoss(AdversarialLoss):
    """Total variation ||p(x + r) - p(x)||_1 / 2: exact transport under the 0-1 cost, with no Sinkhorn error."""

    def divergence(self, adversarial: Tensor, clean: Tensor) -> Tensor:
        return 0.5 * (adversarial - clean).abs().sum(1)


def probabilities(logits: Tensor) -> Tensor:
    """Softmax over classes; maps (B, C, H, W) become one row per pixel, images (B, C) stay as they are."""
    p = logits.float().softmax(1)
    return p if p.dim() == 2 else p.movedim(1, -1).reshape(-1, p.shape[1])


def kl_divergence(p: Tensor, q: Tensor) -> Tensor:
    """KL(p || q) per row, finite where a probability has underflowed to zero."""
    tiny = torch.finfo(p.dtype).tiny
    return (p * (p.clamp_min(tiny).log() - q.clamp_min(tiny).log())).sum(1)


class _SameMasks(nn.Module):
    """A model that draws the same dropout masks in every forward."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        self.seed = int(torch.randint(2**62, ()))

    def forward(self, x: Tensor) -> Tensor:
        with same_random_numbers(self.seed, x.device):
            return self.model(x)


def _per_image(values: Tensor, n: int) -> Tensor:
    """One value per image: the mean over its pixels, if it has any."""
    return values.view(n, -1).mean(1)


def _check(cost: Tensor, lam: float, iterations: int) -> None:
    if cost.dim() != 2 or cost.shape[0] != cost.shape[1] or not bool(torch.isfinite(cost).all()):
        raise WarlabError(f"The cost must be a square matrix of finite numbers, not shape {tuple(cost.shape)}.")
    if bool(cost.diagonal().abs().max() > 0):
        raise WarlabError("The cost of staying in a class must be 0: the diagonal of the cost matrix is not zero.")
    if not lam > 0 or iterations < 1:
        raise WarlabError(f"lambda must be above 0 and iterations at least 1, not {lam} and {iterations}.")
