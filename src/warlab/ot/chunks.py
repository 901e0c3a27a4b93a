"""Sinkhorn over very many rows, such as the pixels of a batch of maps, in the memory of a few thousand of them.

Autograd keeps some hundred numbers per row and class for the backward pass: gigabytes for a million pixels. Here a
chunk of rows is iterated without a graph, and once more in the backward pass, which walks the twenty iterations back by
hand. The gradient is the unrolled one, exactly as that of `warlab.ot.sinkhorn` (a test compares them):

    s_k = K' u_{k-1} + delta,  v_k = b / s_k,  r_k = K v_k + delta,  u_k = a / r_k,   value = u_n' (K * C) v_n

Classes come first inside a chunk: products with a matrix of six by six are then several times faster.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from warlab.common.precision import true_float32

MANY = 4096  # rows; fewer are left to autograd
# Rows of a chunk: on a CPU they fit into the cache; on a GPU they need half a gigabyte for six classes.
_ROWS = {"cpu": 4096, "cuda": 1 << 18}


class Iterate(NamedTuple):
    """One iteration of a chunk: u_{k-1} is that of the iterate before."""

    v: Tensor
    per_s: Tensor
    u: Tensor
    per_r: Tensor


def chunk_rows(a: Tensor) -> int:
    return _ROWS.get(a.device.type, 4096)


class ChunkedSinkhorn(torch.autograd.Function):
    """(a (B, C), b (B, C), cost (C, C), lambda, iterations, delta) → values (B,); the cost gets no gradient."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor, cost: Tensor, lam: float, iterations: int, delta: float) -> Tensor:
        ctx.save_for_backward(a, b, cost)
        ctx.rest = lam, iterations, delta
        kernel, size = torch.exp(-cost / lam), chunk_rows(a)
        values = []
        for part_a, part_b in zip(a.split(size), b.split(size), strict=True):
            u, v = _last(part_a.T.contiguous(), part_b.T.contiguous(), kernel, iterations, delta)
            values.append((u * ((kernel * cost) @ v)).sum(0))
        return torch.cat(values)

    @staticmethod
    @once_differentiable
    @true_float32()  # autograd calls this outside the block in which the values were computed
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        a, b, cost = ctx.saved_tensors
        lam, iterations, delta = ctx.rest
        kernel, size = torch.exp(-cost / lam), chunk_rows(a)
        found = [
            torch.empty_like(t) if needed else None for t, needed in zip((a, b), ctx.needs_input_grad, strict=False)
        ]
        for start in range(0, len(a), size):
            rows = slice(start, start + size)
            path = _iterates(a[rows].T.contiguous(), b[rows].T.contiguous(), kernel, iterations, delta)
            parts = _back(path, kernel, kernel * cost, gradients[0][rows], found[1] is not None)
            for whole, part in zip(found, parts, strict=True):
                if whole is not None and part is not None:
                    whole[rows] = part.T
        return (*found, None, None, None, None)


def _last(a: Tensor, b: Tensor, kernel: Tensor, iterations: int, delta: float) -> tuple[Tensor, Tensor]:
    """u and v (C, B) after all iterations, with nothing kept of those before."""
    u = torch.ones_like(a)
    for _ in range(iterations):
        v = b / (kernel.T @ u).add_(delta)
        u = a / (kernel @ v).add_(delta)
    return u, v


def _iterates(a: Tensor, b: Tensor, kernel: Tensor, iterations: int, delta: float) -> list[Iterate]:
    u, path = torch.ones_like(a), []
    for _ in range(iterations):
        per_s = (kernel.T @ u).add_(delta).reciprocal_()
        v = b * per_s
        per_r = (kernel @ v).add_(delta).reciprocal_()
        u = a * per_r
        path.append(Iterate(v, per_s, u, per_r))
    return path


def _back(
    path: list[Iterate], kernel: Tensor, weighted: Tensor, gradient: Tensor, second: bool
) -> tuple[Tensor, Tensor | None]:
    """Gradients in a and, if asked for, b: (C, B) each."""
    last = path[-1]
    to_u, to_v = gradient * (weighted @ last.v), gradient * (weighted.T @ last.u)
    to_a, to_b = torch.zeros_like(to_u), torch.zeros_like(to_v) if second else None
    for step in reversed(path):
        through = to_u * step.per_r  # u = a / r
        to_a += through
        to_v = to_v.addmm_(kernel.T, through.mul_(step.u), alpha=-1)  # r = K v + delta
        through = to_v * step.per_s  # v = b / s
        if to_b is not None:
            to_b += through
        to_u = (kernel @ through.mul_(step.v)).neg_()  # s = K' u + delta
        to_v = torch.zeros_like(to_v)  # v enters its own iteration only
    return to_a, to_b
