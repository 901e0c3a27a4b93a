"""Sharp entropic optimal transport between the rows of two batches, one ground cost shared by all.

    OT(a, b) = <T*, C>,   T* = argmin_{T in U(a, b)} <T, C> - lambda H(T) = diag(u) K diag(v),   K = exp(-C / lambda)

"Sharp": the entropy shapes the plan but is not added to the value. The loss of WAR is the value after a fixed
number of iterations (20 in the paper), differentiated through all of them; an envelope or implicit gradient
would be another method. Updates follow the authors' code: v first, u last, so the marginal a is exact.
"""

import math

import torch
from torch import Tensor

from warlab.common.precision import true_float32
from warlab.errors import WarlabError
from warlab.ot.chunks import MANY, ChunkedSinkhorn

DELTA = 1e-18  # the authors' guard against division by zero
SMALLEST = 1e6 * DELTA  # of a kernel that DELTA leaves as it is


def sinkhorn(
    a: Tensor, b: Tensor, cost: Tensor, lam: float = 0.05, iterations: int = 20, log_domain: bool | None = None
) -> Tensor:
    r"""Sharp entropic transport between each row of `a` and the same row of `b`, differentiable in both.

    .. math::
        OT(a, b) = \langle T^\star, C \rangle, \qquad
        T^\star = \operatorname{argmin}_{T \in U(a, b)} \langle T, C \rangle - \lambda H(T)

    after a fixed number of iterations, the gradient taken through all of them.

    Parameters
    ----------
    a, b : Tensor (B, C)
        Rows of probabilities. The iterations are in float32 or float64, also under autocast.
    cost : Tensor (C, C)
        What moving mass from class i to class j costs.
    lam : float
        Weight of the entropy. Default 0.05: paper.
    iterations : int
        Updates of both scalings. Default 20: paper.
    log_domain : bool, optional
        Whether to iterate on logarithms, which large or negative costs need. Default: decided by `needs_log_domain`,
        and the arguments are checked, which makes a GPU wait; a loop decides once and checks its loss.

    Returns
    -------
    Tensor (B,)
        The transport of each row. From `chunks.MANY` rows on it can be differentiated once only, in bounded memory;
        in the log domain autograd keeps about 2 × iterations × B × C × C numbers for the backward pass.

    Examples
    --------
    >>> import torch
    >>> from warlab import sinkhorn, zero_one_cost
    >>> a, b = torch.tensor([[0.7, 0.2, 0.1]]), torch.tensor([[0.1, 0.2, 0.7]])
    >>> sinkhorn(a, b, zero_one_cost(3), iterations=1000)
    tensor([0.6000])
    """
    if log_domain is None:
        if a.dim() != 2 or a.shape != b.shape or cost.shape != (a.shape[1], a.shape[1]) or not len(a):
            raise WarlabError(
                f"sinkhorn needs a and b of shape (B, C) and a cost of shape (C, C), not {tuple(a.shape)}, "
                f"{tuple(b.shape)} and {tuple(cost.shape)}."
            )
        for rows in (a, b):
            if not rows.is_floating_point() or not bool((rows >= 0).all() & ((rows.sum(1) - 1).abs() < 0.01).all()):
                raise WarlabError(
                    "a and b must be rows of probabilities (finite, not negative, of sum 1); give logits.softmax(1)."
                )
        if iterations < 1:
            raise WarlabError(f"sinkhorn needs iterations at least 1, not {iterations}.")
        log_domain = needs_log_domain(cost, lam)
    a, b, cost = (t.float() if t.dtype in (torch.bfloat16, torch.float16) else t for t in (a, b, cost))
    with true_float32():
        if len(a) >= MANY and not log_domain and not cost.requires_grad:
            return ChunkedSinkhorn.apply(a, b, cost, lam, iterations, DELTA)
        return (_value_log if log_domain else _value)(a, b, cost, lam, iterations)


def needs_log_domain(cost: Tensor, lam: float) -> bool:
    """True where exp(-C/lambda) overflows, is signed, or sinks to where DELTA, which is added to its sums, counts."""
    if not (math.isfinite(lam) and lam > 0):
        raise WarlabError(f"lambda must be a finite number above 0, not {lam}.")
    if not bool(torch.isfinite(cost).all()):
        raise WarlabError("The cost has entries that are not finite numbers; give a number for every pair of classes.")
    return bool(cost.min() < 0) or bool((-cost.max() / lam).exp() < SMALLEST)


def plan(a: Tensor, b: Tensor, cost: Tensor, lam: float, iterations: int) -> Tensor:
    """Return the coupling after `iterations` updates, (B, C, C): for verification, not for training."""
    if needs_log_domain(cost, lam):
        return _plan_log(a, b, cost, lam, iterations)
    kernel = torch.exp(-cost / lam)
    u, v = _scalings(a, b, kernel, iterations)
    return u[:, :, None] * kernel * v[:, None, :]


def _value(a: Tensor, b: Tensor, cost: Tensor, lam: float, iterations: int) -> Tensor:
    kernel = torch.exp(-cost / lam)
    u, v = _scalings(a, b, kernel, iterations)
    return (u * (v @ (kernel * cost).T)).sum(1)


def _scalings(a: Tensor, b: Tensor, kernel: Tensor, iterations: int) -> tuple[Tensor, Tensor]:
    u = torch.ones_like(a)
    for _ in range(iterations):
        v = b / (u @ kernel + DELTA)
        u = a / (v @ kernel.T + DELTA)
    return u, v


def _value_log(a: Tensor, b: Tensor, cost: Tensor, lam: float, iterations: int) -> Tensor:
    return (_plan_log(a, b, cost, lam, iterations) * cost).sum((1, 2))


def _plan_log(a: Tensor, b: Tensor, cost: Tensor, lam: float, iterations: int) -> Tensor:
    """Return the plan by the same updates as `_scalings` on f = log u and g = log v, for costs of any sign and size."""
    tiny = torch.finfo(a.dtype).tiny
    log_a, log_b = a.clamp_min(tiny).log(), b.clamp_min(tiny).log()
    log_kernel = -cost / lam
    f = torch.zeros_like(log_a)
    for _ in range(iterations):
        g = log_b - torch.logsumexp(f[:, :, None] + log_kernel, dim=1)
        f = log_a - torch.logsumexp(g[:, None, :] + log_kernel, dim=2)
    return (f[:, :, None] + g[:, None, :] - cost / lam).exp()
