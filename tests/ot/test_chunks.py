"""Sinkhorn over many rows: the same value, the same unrolled gradient, and far less memory."""

import importlib.util
from types import ModuleType

import pytest
import torch

from tests.conftest import ROOT
from warlab.ot import chunks
from warlab.ot.sinkhorn import DELTA, _value, sinkhorn
from warlab.war import WARLoss, probabilities

LAM, ITERATIONS = 0.05, 20


def problem(rows: int, classes: int = 6, dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, ...]:
    torch.manual_seed(rows)
    a, b = ((4 * torch.randn(rows, classes, dtype=dtype)).softmax(1).requires_grad_() for _ in range(2))
    cost = torch.rand(classes, classes, dtype=dtype)
    cost = (cost + cost.T).fill_diagonal_(0) / 2
    return a, b, cost, torch.randn(rows, dtype=dtype)


@pytest.mark.parametrize("rows", [chunks.MANY, 2 * chunks.MANY + 77])
def test_value_and_gradients_are_those_of_the_unrolled_iterations(rows: int) -> None:
    a, b, cost, weight = problem(rows)
    ours, plain = sinkhorn(a, b, cost, LAM, ITERATIONS, log_domain=False), _value(a, b, cost, LAM, ITERATIONS)
    assert ours.grad_fn is not None and "Chunked" in type(ours.grad_fn).__name__
    torch.testing.assert_close(ours, plain, rtol=1e-12, atol=1e-14)
    found, expected = (torch.autograd.grad((value * weight).sum(), (a, b)) for value in (ours, plain))
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-8, atol=1e-9)


def test_gradients_agree_with_finite_differences() -> None:
    a, b, cost, _ = problem(3)

    def value(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        return chunks.ChunkedSinkhorn.apply(first, second, cost, 0.2, 4, DELTA)

    assert torch.autograd.gradcheck(value, (a, b), atol=1e-5)


def test_a_reference_without_gradient_gets_none() -> None:
    a, b, cost, _ = problem(chunks.MANY)
    value = sinkhorn(a, b.detach(), cost, LAM, ITERATIONS, log_domain=False)
    (gradient,) = torch.autograd.grad(value.sum(), a)
    assert gradient.shape == a.shape and gradient.abs().max() > 0


def test_in_single_precision_the_logits_get_the_gradient_of_double_precision() -> None:
    torch.manual_seed(0)
    logits, other = torch.randn(2, 6, 64, 64), torch.randn(2, 6, 64, 64)
    cost = 0.5 * (1 - torch.eye(6))
    found = []
    for dtype in (torch.float32, torch.float64):
        own = logits.detach().to(dtype).clone().requires_grad_()
        rows = [t.softmax(1).movedim(1, -1).reshape(-1, 6) for t in (own, other.to(dtype))]
        sinkhorn(rows[0], rows[1].detach(), cost.to(dtype), LAM, ITERATIONS, log_domain=False).sum().backward()
        found.append(own.grad)
    torch.testing.assert_close(found[0].double(), found[1], rtol=1e-3, atol=1e-5)


def test_the_loss_on_maps_takes_this_path_and_costs_that_need_logarithms_do_not() -> None:
    p = probabilities(torch.randn(1, 3, 64, 64, requires_grad=True))
    war = WARLoss(1 - torch.eye(3))
    assert "Chunked" in type(war.divergence(p, p.detach()).grad_fn).__name__
    signed = WARLoss(torch.tensor([[0.0, -1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]), signed=True)
    assert "Chunked" not in type(signed.divergence(p, p.detach()).grad_fn).__name__


def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("memory", ROOT / "benchmarks" / "memory.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_memory_of_war_is_at_most_three_times_that_of_ar() -> None:
    """At the size of the requirement: four patches of 512 × 512 and six classes."""
    found = {name: benchmark().in_own_process(name, 4, 512)["megabytes"] for name in ("AR", "WAR")}
    assert 0 < found["WAR"] <= 3 * found["AR"]
