"""A regulariser's gradient is added after that of the cross entropy: the same bits as of their sum, in less memory."""

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn

from tests.helpers.on_logits import make
from warlab.methods.base import Batch, Step, differentiate, in_turn
from warlab.nets import build

LATE = Step(100, 101)


def network() -> nn.Module:
    torch.manual_seed(0)
    return build("cnn9", 1, 5, width=0.125).train()


def gradients(method_id: str, joint: bool) -> tuple[dict[str, Tensor], Tensor]:
    model, x = network(), torch.randn(8, 1, 14, 14, generator=torch.Generator().manual_seed(1))
    y = torch.arange(8) % 5
    method = make(method_id, y, classes=5, facts={"cost": 1 - torch.eye(5)})
    torch.manual_seed(2)
    losses, _ = method.loss([model], Batch(x, y, torch.arange(8)), LATE)
    assert isinstance(losses, Iterator)
    total = differentiate(torch.stack(list(losses)).sum() if joint else losses)
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
    a, b = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
    assert len(list(in_turn([a * a, b]))) == 1
    assert differentiate([a * a, b]) == 7.0 and (a.grad, b.grad) == (4.0, 1.0)
