"""A regulariser's gradient is added after that of the cross entropy: the same bits as of their sum, in less memory."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.helpers.on_logits import make, task
from warlab.methods.base import Batch, Log, Method, Step, add_gradients
from warlab.nets import build

LATE = Step(100, 101)


def network() -> nn.Module:
    torch.manual_seed(0)
    return build("cnn9", 1, 5, width=0.125).train()


def gradients(method_id: str, joint: bool) -> tuple[dict[str, Tensor], Tensor]:
    model, x = network(), torch.randn(8, 1, 14, 14, generator=torch.Generator().manual_seed(1))
    y = torch.arange(8) % 5
    method = make(method_id, y, classes=5, facts={"cost": 1 - torch.eye(5)})
    batch = Batch(x, y, torch.arange(8))
    torch.manual_seed(2)
    if joint:
        loss, _ = method.loss([model], batch, LATE)
        penalty, _ = method.regulariser([model], batch, LATE)
        assert isinstance(loss, Tensor) and penalty is not None
        total = (loss + penalty).detach()
        (loss + penalty).backward()
    else:
        total, _ = add_gradients(method, [model], batch, LATE)
    return {name: p.grad for name, p in model.named_parameters() if p.grad is not None}, total


@pytest.mark.parametrize("method_id", ["ar", "tv", "war"])
def test_the_gradients_are_those_of_the_sum_to_the_last_bit(method_id: str) -> None:
    (turns, total), (joint, both) = gradients(method_id, False), gradients(method_id, True)
    assert turns.keys() == joint.keys() and len(turns) > 20
    assert all(torch.equal(turns[name], joint[name]) for name in joint)
    assert total == both


def test_the_first_graph_is_gone_before_the_second_is_built() -> None:
    """Numbers that autograd keeps for a backward, at most at one time."""
    assert kept(joint=False) < 0.6 * kept(joint=True)


def kept(joint: bool) -> int:
    alive, most = 0, 0

    class Kept:
        def __init__(self, tensor: Tensor) -> None:
            nonlocal alive, most
            self.tensor = tensor
            alive += tensor.numel()
            most = max(most, alive)

        def __del__(self) -> None:
            nonlocal alive
            alive -= self.tensor.numel()

    with torch.autograd.graph.saved_tensors_hooks(Kept, lambda one: one.tensor):
        gradients("ar", joint)
    return most


def test_losses_of_two_networks_are_one_sum() -> None:
    class Two(Method):
        def loss(self, models: Any, batch: Batch, step: Step) -> tuple[list[Tensor], Log]:
            return [a * a, b], {"n": 1.0}

    a, b = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
    y = torch.zeros(1, dtype=torch.long)
    assert add_gradients(Two(None, task(y, 2)), [], Batch(y, y, y), LATE) == (7.0, {"n": 1.0})
    assert (a.grad, b.grad) == (4.0, 1.0)
