"""direction="clean": the gradient of the loop's own forward in place of a probe."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from tests.helpers.on_logits import make
from warlab import ARLoss, TVLoss, WARLoss
from warlab.errors import WarlabError
from warlab.methods.base import Batch, Step, add_gradients
from warlab.nets import build
from warlab.ot.sinkhorn import sinkhorn

COST = torch.tensor([[0.0, 0.9, 0.2], [0.9, 0.0, 0.4], [0.2, 0.4, 0.0]])
EPSILON = 0.01


class Watched(nn.Module):
    """A small network that remembers what it was given."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.inner = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3)).double()
        self.seen: list[Tensor] = []

    def forward(self, x: Tensor) -> Tensor:
        self.seen.append(x.detach())
        return self.inner(x)


def inputs() -> Tensor:
    return torch.randn(5, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def slope(model: nn.Module, x: Tensor, step: float = 1e-6) -> Tensor:
    """Gradient of OT(p(x), fixed p) in x by finite differences."""
    fixed, found = model(x).softmax(1).detach(), torch.zeros_like(x)
    for number in range(x.shape[1]):
        shift = torch.zeros_like(x)
        shift[:, number] = step
        values = [sinkhorn(model(x + s).softmax(1), fixed, COST.double(), 0.05, 20, False) for s in (shift, -shift)]
        found[:, number] = (values[0] - values[1]).detach() / (2 * step)
    return found


def test_it_is_the_slope_of_the_transport_to_itself_and_costs_no_forward() -> None:
    model, x = Watched(), inputs().requires_grad_()
    war = WARLoss(COST, epsilon=EPSILON, direction="clean")
    war(model, x, model(x)).backward()
    assert len(model.seen) == 2  # the loop's own and the final one
    r = model.seen[1] - model.seen[0]
    assert r.norm(dim=1) == pytest.approx(EPSILON, rel=1e-6)
    cosine = torch.cosine_similarity(r, slope(model, x.detach()), dim=1)
    assert bool((cosine > 0.9999).all())


def test_the_gradients_of_a_step_are_those_of_the_two_terms() -> None:
    model, x, y = Watched(), inputs().requires_grad_(), torch.tensor([0, 1, 2, 0, 1])
    logits = model(x)
    (cross_entropy(logits, y) + 10 * WARLoss(COST, epsilon=EPSILON, direction="clean")(model, x, logits)).backward()
    found = [p.grad.clone() for p in model.parameters() if p.grad is not None]
    model.zero_grad()
    reference = logits.detach().softmax(1)
    transport = sinkhorn(model(model.seen[1]).softmax(1), reference, COST.double(), 0.05, 20, False).mean()
    (cross_entropy(model(x.detach()), y) + 10 * transport).backward()
    for a, p in zip(found, model.parameters(), strict=True):
        torch.testing.assert_close(a, p.grad)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda m, x: ARLoss(direction="clean"), "cannot be clean for ARLoss: its divergence has no slope"),
        (lambda m, x: TVLoss(direction="clean"), "cannot be clean for TVLoss"),
        (lambda m, x: WARLoss(COST, direction="clean", dropout="off"), "leave dropout independent"),
        (lambda m, x: WARLoss(COST, direction="clean", power_iterations=3), "power_iterations 1"),
        (lambda m, x: WARLoss(COST, direction="clean")(m, x, m(x)), "call inputs.requires_grad_"),
        (lambda m, x: WARLoss(COST, direction="clean")(m, x.requires_grad_()), "give these logits"),
        (lambda m, x: WARLoss(COST, direction="clean")(m, x.requires_grad_(), m(x).detach()), "with their graph"),
        (
            lambda m, x: WARLoss(COST, direction="clean")(m, x.requires_grad_(), m(inputs().requires_grad_())),
            "were not made from these inputs",
        ),
    ],
)
def test_what_it_cannot_do_is_one_sentence(call: Any, said: str) -> None:
    with pytest.raises(WarlabError, match=said):
        call(Watched(), inputs())


@pytest.mark.parametrize("order", ["code", "paper"])
def test_the_divergence_of_ar_has_no_slope_there(order: Any) -> None:
    """Which is why it is refused: what is left of the gradient is rounding."""
    logits = torch.randn(8, 5, dtype=torch.float64, requires_grad=True)
    p = logits.softmax(1)
    ARLoss(order).divergence(p, p.detach()).sum().backward()
    assert logits.grad is not None and logits.grad.abs().max() < 1e-12


def test_the_method_takes_the_same_step_as_the_library() -> None:
    x, y = torch.randn(8, 1, 14, 14, generator=torch.Generator().manual_seed(1)), torch.arange(8) % 3
    grads = []
    for way in ("method", "library"):
        torch.manual_seed(0)
        model = build("cnn9", 1, 3, width=0.125).train()
        torch.manual_seed(2)
        if way == "method":
            war = make("war", y, classes=3, facts={"cost": COST}, direction="clean")
            add_gradients(war, [model], Batch(x, y, torch.arange(8)), Step(100, 101))
        else:
            given = x.clone().requires_grad_()
            logits = model(given)
            (cross_entropy(logits, y) + 10 * WARLoss(COST, direction="clean")(model, given, logits)).backward()
        grads.append([p.grad for p in model.parameters()])
    assert all(torch.equal(a, b) for a, b in zip(*grads, strict=True))
