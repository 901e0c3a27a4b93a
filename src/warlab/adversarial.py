"""The adversarial direction, and what batch norm, dropout and number formats do in the extra passes.

d  = xi * unit(N(0, I))                    a tiny random probe, per sample
g  = gradient of D(p(x + d), sg[q]) in d   one power iteration (k_max = 1, as in the paper); more go on from unit(g)
r  = epsilon * unit(g)                     detached: no gradient flows through the direction
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

import torch
from torch import Tensor, nn

from warlab.common.precision import true_float32

Dropout = Literal["independent", "shared", "off"]
Divergence = Callable[[Tensor, Tensor], Tensor]  # (adversarial probabilities, clean probabilities) → one per sample

XI = 1e-6  # length of the probe, paper's appendix and authors' code


def perturbation(
    predict: Callable[[Tensor], Tensor],
    divergence: Divergence,
    x: Tensor,
    reference: Tensor,
    epsilon: float,
    reduction: Literal["sum", "mean"] = "sum",
    power_iterations: int = 1,
) -> Tensor:
    """r of the formulas above: (B, …) like x, of length epsilon per sample.

    `reduction="mean"` is the authors' code to the letter: the gradient of the batch mean carries 1/B and is
    divided by its norm + 1e-8, which shortens r where the gradient is tiny (no dropout, large batch).
    """
    direction = unit(torch.randn_like(x))
    for _ in range(power_iterations):
        probe = (XI * direction).requires_grad_()
        value = divergence(predict(x + probe), reference)
        total = value.mean() if reduction == "mean" else value.sum()
        # Asking for the probe's gradient alone keeps autograd from computing any weight gradient.
        (gradient,) = torch.autograd.grad(total, probe)
        direction = _unit_code(gradient) if reduction == "mean" else unit(gradient)
    return epsilon * direction


def unit(t: Tensor) -> Tensor:
    """Scale every sample to length 1; by its largest entry first, so that 1e-30 does not square to zero."""
    flat = t.flatten(1)
    flat = flat / flat.abs().amax(1, keepdim=True).clamp_min(torch.finfo(t.dtype).tiny)
    flat = flat / flat.norm(dim=1, keepdim=True).clamp_min(torch.finfo(t.dtype).tiny)
    return flat.view_as(t)


def _unit_code(t: Tensor) -> Tensor:
    return t / (t.flatten(1).norm(dim=1).view(-1, *[1] * (t.dim() - 1)) + 1e-8)


@contextmanager
def extra_pass(model: nn.Module, dropout: Dropout, batchnorm_update: bool) -> Iterator[None]:
    """Make every forward inside a pass of the regulariser: dropout and batch norm as asked, true float32."""
    sleeping = _modules(model, nn.modules.dropout._DropoutNd) if dropout == "off" else []
    frozen = [] if batchnorm_update else _modules(model, nn.modules.batchnorm._NormBase)
    training = [m.training for m in sleeping]
    try:
        for m in sleeping:
            m.training = False
        for m in frozen:
            m.track_running_stats = False  # batch statistics are still used, running ones stay
        with true_float32():
            yield
    finally:
        for m, mode in zip(sleeping, training, strict=True):
            m.training = mode
        for m in frozen:
            m.track_running_stats = True


def _modules(model: nn.Module, kind: type[Any]) -> list[Any]:
    """Only those that `extra_pass` may switch: a batch norm built without running statistics stays as it is."""
    found = [m for m in model.modules() if isinstance(m, kind)]
    return [m for m in found if getattr(m, "track_running_stats", True)]


@contextmanager
def same_random_numbers(seed: int, device: torch.device) -> Iterator[None]:
    """What is drawn inside depends on the seed alone; the generators outside go on as if nothing had been."""
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        yield
