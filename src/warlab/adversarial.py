"""The adversarial direction, and what batch norm, dropout and number formats do in the extra passes.

d  = xi * unit(N(0, I))                    a tiny random probe, per sample
g  = gradient of D(p(x + d), sg[q]) in d   one power iteration (k_max = 1, as in the paper); more go on from unit(g)
r  = epsilon * unit(g)                     detached: no gradient flows through the direction
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

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
    with ExitStack() as stack:
        if dropout == "off":
            stack.enter_context(_switched_off(model, nn.modules.dropout._DropoutNd, "training"))
        if not batchnorm_update:  # batch statistics are still used, running ones stay
            stack.enter_context(_switched_off(model, nn.modules.batchnorm._NormBase, "track_running_stats"))
        # A wrapper overwrites running statistics before a forward: once per step, in the loop's own pass.
        stack.enter_context(_switched_off(model, DistributedDataParallel, "broadcast_buffers"))
        stack.enter_context(true_float32())
        yield


@contextmanager
def _switched_off(model: nn.Module, kind: type[Any], attribute: str) -> Iterator[None]:
    """An attribute of all modules of a kind is False inside; afterwards it is what it was in each of them."""
    found = [m for m in model.modules() if isinstance(m, kind)]
    before = [getattr(m, attribute) for m in found]
    try:
        for m in found:
            setattr(m, attribute, False)
        yield
    finally:
        for m, value in zip(found, before, strict=True):
            setattr(m, attribute, value)


@contextmanager
def same_random_numbers(seed: int, device: torch.device) -> Iterator[None]:
    """What is drawn inside depends on the seed alone; the generators outside go on as if nothing had been."""
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        yield
