"""WAR: Wasserstein adversarial regularisation, equation 5 of the paper.

    R_WAR(x) = OT_C^lambda( p(x + r), p(x) )     with     r = argmax_{||r|| <= epsilon} OT_C^lambda( p(x + r), p(x) )

`AdversarialLoss` finds r and computes the two predictions; here is the divergence between them.
"""

import math
import warnings
from dataclasses import InitVar, dataclass, field

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from warlab.errors import WarlabError
from warlab.ot.cost_checks import check_cost
from warlab.ot.sinkhorn import needs_log_domain, sinkhorn
from warlab.war.adversarial import AdversarialLoss


@dataclass(eq=False, repr=False)
class WARLoss(AdversarialLoss):
    r"""Wasserstein adversarial regularisation, equation 5 of the paper.

    .. math::
        R(x) = OT_C^\lambda(p(x + r),\ sg[p(x)]), \qquad
        r = \epsilon \, \frac{g}{\|g\|_2}, \qquad g = \nabla_d \, OT_C^\lambda(p(x + d),\ sg[p(x)])

    at a tiny random d; sg stops the gradient. Call it as ``war(model, inputs, logits)``: see `forward`.

    Costs of a step below are processor time in units of a step of plain cross entropy (CCE), measured by
    benchmarks/step.py with the paper's 9-layer network on 32 × 32 images; with the defaults a step takes 2.6 to 2.7.

    Parameters
    ----------
    cost : Tensor or array (C, C)
        The ground cost between classes: large between those that resemble each other, symmetric, not negative, zero
        on the diagonal. From `word_cost`, `centroid_cost`, `zero_one_cost` or your own. Keep its largest entry near 1:
        above 41 lambda, or if signed, the transport is computed by logarithms, which takes memory of
        2 × iterations × B × C × C for the backward pass. If even the smallest entry is `iterations` times lambda or
        more, as of `zero_one_cost` with the defaults, the iterations move next to nothing between predictions that
        differ little, and there is a warning: use `TVLoss` for this cost, or a larger lambda.
    lam : float
        Weight of the entropy in the transport. Default 0.05: paper.
    iterations : int
        Sinkhorn iterations, differentiated through. Default 20: paper. They take less than one percent of a step.
    epsilon : float, optional
        Length of the perturbation, L2 over all values of one sample. Default 0.005: paper. With 0 no direction is
        computed, and a step takes about 2.0 instead of 2.6. The paper's length is so small that without dropout the
        loss does next to nothing; then there is a warning after the first calls.
    relative_epsilon : float, optional
        Length of the perturbation as a share of each sample's own L2 norm, in place of epsilon, so that it means the
        same for inputs of any size and scale: 0.01 is one percent. A sample of zeros is not perturbed. Under autocast,
        with a share of at least 2^-7 for bfloat16 or 2^-10 for float16, the extra passes have the model's precision.
    dropout : "independent", "shared" or "off"
        Dropout masks of the extra passes: independent of the clean pass, the same in all of them, or none. Default
        "independent": authors' code. The others take one more forward pass, about 0.3, for such a reference.
        "off" switches the modules of torch.nn.Dropout's family only; torch.nn.functional.dropout and the dropout
        inside attention and recurrent layers stay on. "shared" also covers them, because it repeats the random numbers.
    batchnorm_update : bool
        Whether the extra passes move the running statistics of batch norm. Default True: authors' code.
    direction : "sum", "mean", "clean", "random" or "gaussian"
        How the direction is found. Default "sum": our choice, always of length epsilon. "mean" is the authors' code
        to the letter, which shortens the perturbation where the gradient is tiny. "clean" needs no probe: the entropy
        in the transport gives it a slope where both predictions are the same, so that the loop's own forward pass has
        the gradient. A step takes about 2.4 instead of 2.6; call ``inputs.requires_grad_()`` before it. The
        direction differs from the probe's, see docs/performance.md. "random" and "gaussian" are controls that are not
        adversarial: a random direction of length epsilon, and noise of that length on average. They need no probe.
    power_iterations : int
        Gradients that are taken to find the direction. Default 1: paper. Each further one takes one more forward
        and backward pass in the inputs, about 0.7.
    class_dim : int, optional
        The axis of the classes in the logits. Default: 1, as in torch's cross_entropy; logits of three axes, which
        may be (B, C, T) or (B, T, C), are refused without it.
    signed : bool
        Whether the cost may be negative or asymmetric, as the raw random costs of the paper are. Default False.

    Examples
    --------
    >>> import torch
    >>> from warlab import WARLoss, word_cost
    >>> _ = torch.manual_seed(0)
    >>> model, x, y = torch.nn.Linear(8, 3), torch.randn(16, 8), torch.randint(3, (16,))
    >>> war = WARLoss(word_cost(["cat", "dog", "truck"]))
    >>> logits = model(x)
    >>> loss = torch.nn.functional.cross_entropy(logits, y) + 10 * war(model, x, logits)
    >>> loss.backward()

    References
    ----------
    Fatras, Damodaran, Lobry, Flamary, Tuia, Courty: Wasserstein adversarial regularization for learning with label
    noise, IEEE TPAMI 2021.
    """

    cost: InitVar[Tensor | ArrayLike]
    lam: float = 0.05
    iterations: int = 20
    signed: bool = field(default=False, kw_only=True)
    slope_at_clean = True

    def __post_init__(self, cost: Tensor | ArrayLike) -> None:
        super().__post_init__()
        matrix = torch.as_tensor(cost, dtype=torch.float32).detach().clone()
        values = matrix.double().cpu().numpy()
        # Entries that single precision rounds apart count as equal.
        check_cost(values, "of WARLoss", self.signed, rounding=1e-6 * abs(values).max(initial=0.0))
        if not 0 < self.lam < math.inf or self.iterations < 1:
            raise WarlabError(
                "lambda must be a finite number above 0 and iterations at least 1, "
                f"not {self.lam} and {self.iterations}."
            )
        self.register_buffer("cost", matrix)
        self.scale = float(abs(values).mean()) if values.size else 1.0
        self._decided: tuple[Tensor | None, int, float, bool] = None, 0, 0.0, False
        apart = values[~np.eye(len(values), dtype=bool)]
        if apart.size and apart.min() >= self.iterations * self.lam:
            warnings.warn(
                f"The smallest entry of the cost, {apart.min():g}, is {apart.min() / self.lam:.3g} lambda; "
                f"{self.iterations} iterations then move next to nothing between predictions that differ by less than "
                "a factor of e, and the loss hardly trains; use TVLoss() for the 0-1 cost, or raise lam or iterations.",
                stacklevel=3,
            )

    @property
    def log_domain(self) -> bool:
        """Whether logarithms are needed; decided again after a change of the cost or of lambda, since to look at a cost
        makes a GPU wait."""
        cost = self.get_buffer("cost")
        known, version, lam, decision = self._decided
        if known is not cost or (version, lam) != (cost._version, self.lam):
            decision = needs_log_domain(cost, self.lam)
            self._decided = cost, cost._version, self.lam, decision
        return decision

    def divergence(self, adversarial: Tensor, clean: Tensor) -> Tensor:
        """OT_C^lambda of each row: the transport from p(x + r) to p(x)."""
        cost = self.get_buffer("cost").to(adversarial)
        if adversarial.shape[1] != len(cost):
            raise WarlabError(
                f"The model predicts {adversarial.shape[1]} classes but the cost matrix has {len(cost)}; "
                "give a cost with one row per class, or name the axis of the classes by class_dim."
            )
        return sinkhorn(adversarial, clean, cost, self.lam, self.iterations, self.log_domain)
