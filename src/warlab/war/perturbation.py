"""The perturbation r of each sample: adversarial, by a probe and the gradient there, or random."""

import math
from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor

Divergence = Callable[[Tensor, Tensor], Tensor]  # (adversarial probabilities, clean probabilities) → one per sample

XI = 1e-6  # length of the probe, paper's appendix and authors' code
XI_SAME_MASKS = 1e-4  # its length where no mask differs: what 1e-6 then changes in p is float32's rounding
XI_RELATIVE = 1e-4  # its length as a share of the sample's norm, with a relative epsilon


def perturbation(
    predict: Callable[[Tensor], Tensor],
    divergence: Divergence,
    x: Tensor,
    p_clean: Tensor,
    epsilon: Tensor | float,
    reduction: Literal["sum", "mean"] = "sum",
    power_iterations: int = 1,
    xi: Tensor | float = XI,
) -> Tensor:
    """Return r of the formulas above: (B, …) like x, of length epsilon per sample.

    `reduction="mean"` is the authors' code to the letter: the gradient of the batch mean carries 1/B and is
    divided by its norm + 1e-8, which shortens r where the gradient is tiny (no dropout, large batch).
    """
    direction = draw_direction(x, fixed_length=True)
    for _ in range(power_iterations):
        probe = (xi * direction).requires_grad_()
        value = divergence(predict(x + probe), p_clean)
        total = value.mean() if reduction == "mean" else value.sum()
        # Asking for the probe's gradient alone keeps autograd from computing any weight gradient.
        (gradient,) = torch.autograd.grad(total, probe)
        if reduction == "mean":
            direction = gradient / (gradient.flatten(1).norm(dim=1).view(-1, *[1] * (x.dim() - 1)) + 1e-8)
        else:
            direction = unit(gradient)
    return epsilon * direction


def draw_direction(x: Tensor, fixed_length: bool) -> Tensor:
    """Return a random vector per sample: of length 1, or of d Gaussian values whose mean square is 1 / d."""
    drawn = torch.randn_like(x)
    return unit(drawn) if fixed_length else drawn / math.sqrt(x[0].numel())


def unit(t: Tensor) -> Tensor:
    """Scale every sample to length 1; by its largest entry first, so that 1e-30 does not square to zero."""
    flat = t.flatten(1)
    flat = flat / flat.abs().amax(1, keepdim=True).clamp_min(torch.finfo(t.dtype).tiny)
    flat = flat / flat.norm(dim=1, keepdim=True).clamp_min(torch.finfo(t.dtype).tiny)
    return flat.view_as(t)


def norms(x: Tensor) -> Tensor:
    """L2 norm of each sample, shaped to multiply x."""
    return x.flatten(1).norm(dim=1).view(-1, *[1] * (x.dim() - 1))
