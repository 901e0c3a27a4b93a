"""The WAR and AR losses as a user of the library meets them."""

import copy
from unittest import mock

import pytest
import torch
from torch import Tensor, nn

from tests.helpers.nets import Network
from warlab.war import ARLoss, TVLoss, WARLoss, kl_divergence, probabilities
from warlab.war.adversarial import AdversarialLoss, Direction
from warlab.war.model import Dropout
from warlab.war.perturbation import XI, perturbation, unit

COST = (1 - torch.eye(5)) * torch.rand(5, 5, generator=torch.Generator().manual_seed(3))
COST = (COST + COST.T) / 2
LOSSES = {"war": WARLoss(COST), "ar": ARLoss(), "tv": TVLoss()}


@pytest.fixture
def x() -> Tensor:
    return torch.randn(7, 1, 8, 8, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_two_extra_forwards_and_a_perturbation_of_length_epsilon(loss: nn.Module, x: Tensor) -> None:
    model = Network(0.3)
    loss(model, x, model(x))
    assert len(model.inputs) == 3
    length = (model.inputs[2] - x).flatten(1).norm(dim=1)
    torch.testing.assert_close(length, torch.full((7,), 0.005), rtol=1e-3, atol=0)


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_without_a_perturbation_no_direction_is_searched(loss: nn.Module, x: Tensor) -> None:
    model, plain = Network(0.3), type(loss)(*([COST] if isinstance(loss, WARLoss) else []), epsilon=0.0)
    logits = model(x)
    torch.manual_seed(5)
    value = plain(model, x, logits)
    assert len(model.inputs) == 2 and torch.equal(model.inputs[1], x)
    torch.manual_seed(5)  # the same dropout masks: nothing else is drawn
    expected = plain.divergence(probabilities(model(x)), probabilities(logits)).mean()
    torch.testing.assert_close(value, expected)


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_no_weight_gradient_in_the_direction_and_none_through_the_reference(loss: nn.Module, x: Tensor) -> None:
    model = Network(0.3)
    logits = model(x)
    touched = []
    for p in model.parameters():
        p.register_hook(lambda g: touched.append(g))
    value = loss(model, x, logits)
    assert touched == [] and all(p.grad is None for p in model.parameters())
    (through_reference,) = torch.autograd.grad(value, logits, allow_unused=True, retain_graph=True)
    assert through_reference is None
    value.backward()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)


def smooth(x: Tensor) -> tuple[nn.Module, Tensor, Tensor]:
    """A net without dropout in float64, its input, and what it predicts there."""
    model, x = Network().eval().double(), x.double()
    with torch.no_grad():
        return model, x, model(x).softmax(1)


def test_direction_climbs_better_than_chance(x: Tensor) -> None:
    """In float64: a probe of 1e-6 drowns in float32's rounding unless dropout makes the gradient first order."""
    model, x, q = smooth(x)
    loss = ARLoss()

    def predict(inputs: Tensor) -> Tensor:
        return model(inputs).softmax(1)

    r = perturbation(predict, loss.divergence, x, q, epsilon=0.5)
    with torch.no_grad():
        found = loss.divergence(predict(x + r), q)
        chance = torch.stack([loss.divergence(predict(x + 0.5 * unit(torch.randn_like(x))), q) for _ in range(30)])
    assert (found > chance.mean(0)).all() and found.mean() > 2 * chance.mean()


def test_more_power_iterations_find_a_steeper_direction(x: Tensor) -> None:
    model, x, q = smooth(x)
    loss = ARLoss()

    def climbed(power_iterations: int) -> Tensor:
        torch.manual_seed(0)
        r = perturbation(
            lambda inputs: model(inputs).softmax(1), loss.divergence, x, q, 0.01, power_iterations=power_iterations
        )
        with torch.no_grad():
            return loss.divergence(model(x + r).softmax(1), q).mean()

    one, five, many = climbed(1), climbed(5), climbed(50)
    assert one < five and five <= many * 1.01
    counted = Network(0.3)
    ARLoss(power_iterations=3)(counted, x.float())
    assert len(counted.inputs) == 5  # reference, three gradients, the regulariser


@pytest.mark.parametrize("direction", ["random", "gaussian"])
@pytest.mark.parametrize("loss", [WARLoss(COST, epsilon=0.5), ARLoss(epsilon=0.5), TVLoss(epsilon=0.5)])
def test_a_drawn_direction_takes_no_gradient(loss: AdversarialLoss, direction: Direction, x: Tensor) -> None:
    """One extra pass, with dropout on; the direction is new in every call and the seed decides it."""
    model, control = Network(0.3), copy.deepcopy(loss)
    control.direction = direction
    logits = model(x)
    perturbations = []
    for seed in (0, 0, 1):
        torch.manual_seed(seed)
        value = control(model, x, logits)
        perturbations.append(model.inputs[-1] - x)
    assert len(model.inputs) == 4 and value > 0
    first, again, other = (r.flatten(1) for r in perturbations)
    assert torch.equal(first, again)
    assert torch.cosine_similarity(first, other, dim=1).abs().max() < 0.6
    lengths = first.norm(dim=1)
    assert lengths.mean() == pytest.approx(0.5, rel=0.1)
    assert (lengths.std() < 1e-6) == (direction == "random")


@pytest.mark.parametrize("dropout", ["off", "shared"])
@pytest.mark.parametrize("loss", [ARLoss, TVLoss])
def test_the_probe_is_above_the_rounding_of_float32_where_masks_do_not_differ(
    loss: type[AdversarialLoss], dropout: Dropout, x: Tensor
) -> None:
    """With a probe of 1e-6 the direction in float32 is rounding noise."""
    found = {}
    for dtype in (torch.float32, torch.float64):
        model = Network().to(dtype)
        with mock.patch("torch.randn_like", return_value=x.flip(0).to(dtype)):
            loss(epsilon=0.5, dropout=dropout)(model, x.to(dtype))
        found[dtype] = (model.inputs[-1] - x).flatten(1).double()
    assert torch.cosine_similarity(*found.values(), dim=1).min() > 0.99


def test_dropout_flag(x: Tensor) -> None:
    """With the same or no masks and epsilon 0 nothing differs; with independent masks the predictions do."""
    for dropout, same in (("independent", False), ("shared", True), ("off", True)):
        model = Network(0.5)
        value = TVLoss(epsilon=0.0, dropout=dropout)(model, x, model(x))
        assert (value.item() < 1e-6) == same, dropout
        assert model.net[3].training


def test_shared_masks_are_new_in_every_step_and_leave_the_generator_alone(x: Tensor) -> None:
    model = Network(0.5)
    loss = TVLoss(dropout="shared", epsilon=5.0)
    torch.manual_seed(0)
    values = {round(loss(model, x).item(), 6) for _ in range(4)}
    assert len(values) == 4


def test_true_float32_under_autocast_and_tf32(x: Tensor) -> None:
    model = Network(0.3)
    convolutions = torch.backends.cudnn.conv
    old, convolutions.fp32_precision = convolutions.fp32_precision, "tf32"
    try:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(x)
            assert logits.dtype == torch.bfloat16
            value = WARLoss(COST)(model, x, logits)
        assert value.dtype == torch.float32
        assert model.tf32 == [True, False, False, False]  # bfloat16 logits are no reference: one more forward
        assert convolutions.fp32_precision == "tf32"
    finally:
        convolutions.fp32_precision = old


@pytest.mark.parametrize("beta", [0.5, 1, 5, 10, 20])
def test_proposition_1_is_an_identity_for_the_papers_order_only(beta: float) -> None:
    """(1-g) (CE(y,p) + beta KL(q||p)) = CE((1-g) y + g q, p) - g H(q)"""
    torch.manual_seed(1)
    p, q = (
        torch.randn(20, 6, dtype=torch.float64).softmax(1),
        torch.randn(20, 6, dtype=torch.float64).softmax(1),
    )
    y = torch.eye(6, dtype=torch.float64)[torch.arange(20) % 6]
    g = beta / (1 + beta)

    def ce(target: Tensor) -> Tensor:
        return -(target * p.log()).sum(1)

    right = ce((1 - g) * y + g * q) + g * (q * q.log()).sum(1)
    torch.testing.assert_close((1 - g) * (ce(y) + beta * kl_divergence(q, p)), right, rtol=1e-10, atol=1e-10)
    assert ((1 - g) * (ce(y) + beta * kl_divergence(p, q)) - right).abs().max() > 1e-3
    adversarial_first = ARLoss(order="paper").divergence(q, p)
    torch.testing.assert_close(adversarial_first, kl_divergence(q, p))
    torch.testing.assert_close(ARLoss(order="code").divergence(q, p), kl_divergence(p, q))


def test_unit_survives_tiny_gradients() -> None:
    tiny = torch.full((1, 4), 1e-30)
    torch.testing.assert_close(unit(tiny).norm(), torch.tensor(1.0))
    assert unit(torch.zeros(1, 4)).abs().max() == 0
    assert XI == 1e-6
