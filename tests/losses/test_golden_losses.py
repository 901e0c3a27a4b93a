"""The losses as the methods call them, against recorded values and against the step written out, to the last bit.

Recorded at commit 1584f1a with torch 2.13.0. Without independent masks the direction is rounding noise in float32, so
that these values are compared with the written-out step only.
"""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from warlab.war import AdversarialLoss, ARLoss, TVLoss, WARLoss
from warlab.war.model import extra_pass, same_random_numbers
from warlab.war.perturbation import perturbation

SETTINGS = {
    "epsilon": 0.005,
    "dropout": "independent",
    "batchnorm_update": True,
    "direction": "sum",
    "power_iterations": 1,
}
CHANGES = [
    {},
    {"dropout": "shared"},
    {"dropout": "off"},
    {"batchnorm_update": False},
    {"direction": "mean"},
    {"power_iterations": 2},
    {"epsilon": 0.5},
]
# (loss, change) → value and norm of the gradient in all weights
RECORDED = {
    ("war", 0): ("0x1.906bb60000000p-5", "0x1.d97e9d0bcb147p-2"),
    ("war", 3): ("0x1.906bb60000000p-5", "0x1.d97e9d0bcb147p-2"),
    ("war", 4): ("0x1.906bba0000000p-5", "0x1.d97e9bf9daf22p-2"),
    ("war", 5): ("0x1.8ba0b00000000p-5", "0x1.404618eb2b008p-2"),
    ("war", 6): ("0x1.cba43a0000000p-5", "0x1.ea8531e873fffp-2"),
    ("ar", 0): ("0x1.2ee51a0000000p-4", "0x1.b2ae65e41a7c0p-1"),
    ("ar", 3): ("0x1.2ee51a0000000p-4", "0x1.b2ae65e41a7c0p-1"),
    ("ar", 4): ("0x1.2ee51c0000000p-4", "0x1.b2ae65dd27b07p-1"),
    ("ar", 5): ("0x1.09795e0000000p-4", "0x1.b208d66c7b442p-1"),
    ("ar", 6): ("0x1.6ff3060000000p-4", "0x1.e9fbdb190a94fp-1"),
    ("tv", 0): ("0x1.24b41c0000000p-3", "0x1.19da9466e1e51p+0"),
    ("tv", 3): ("0x1.24b41c0000000p-3", "0x1.19da9466e1e51p+0"),
    ("tv", 4): ("0x1.24b41c0000000p-3", "0x1.19da9417b6488p+0"),
    ("tv", 5): ("0x1.29ea940000000p-3", "0x1.15a2b333f8484p+0"),
    ("tv", 6): ("0x1.4ae2d60000000p-3", "0x1.1c00824e9c7a0p+0"),
}


def cost() -> torch.Tensor:
    drawn = (1 - torch.eye(5)) * torch.rand(5, 5, generator=torch.Generator().manual_seed(3))
    return (drawn + drawn.T) / 2


def network() -> nn.Sequential:
    torch.manual_seed(0)
    layers = nn.Conv2d(1, 6, 3), nn.BatchNorm2d(6), nn.ReLU(), nn.Dropout2d(0.3), nn.Flatten(), nn.Linear(216, 5)
    return nn.Sequential(*layers)


def made(name: str, options: dict) -> AdversarialLoss:
    if name == "war":
        return WARLoss(cost(), lam=0.05, iterations=20, signed=True, **options)
    return ARLoss(order="code", **options) if name == "ar" else TVLoss(**options)


@pytest.mark.parametrize(("name", "change"), RECORDED)
def test_value_and_gradient_are_those_recorded(name: str, change: int) -> None:
    value, gradient = step(name, SETTINGS | CHANGES[change], lambda loss, *given: loss(*given))
    recorded_value, recorded_norm = (float.fromhex(text) for text in RECORDED[name, change])
    assert value.item() == pytest.approx(recorded_value, rel=1e-5)
    assert gradient.double().norm().item() == pytest.approx(recorded_norm, rel=1e-4)


def step(name: str, options: dict, call: Callable[..., Tensor]) -> tuple[Tensor, Tensor]:
    x = torch.randn(7, 1, 8, 8, generator=torch.Generator().manual_seed(1))
    model, loss = network(), made(name, options)
    torch.manual_seed(7)
    value = call(loss, model, x, model(x))
    value.backward()
    return value, torch.cat([weight.grad.flatten() for weight in model.parameters() if weight.grad is not None])


def written_out(loss: AdversarialLoss, model: nn.Module, x: Tensor, logits: Tensor) -> Tensor:
    """The step without any of the checks and choices of `AdversarialLoss.forward`."""
    seed = int(torch.randint(2**62, ())) if loss.dropout == "shared" else None

    def predict(inputs: Tensor) -> Tensor:
        if seed is None:
            return model(inputs).softmax(1)
        with same_random_numbers(seed, x.device):
            return model(inputs).softmax(1)

    with extra_pass(model, loss.dropout, loss.batchnorm_update):
        with torch.no_grad():
            clean = logits.softmax(1) if loss.dropout == "independent" else predict(x)
        xi = 1e-6 if loss.dropout == "independent" else 1e-4
        options = loss.epsilon, loss.direction, loss.power_iterations, xi
        r = perturbation(predict, loss.divergence, x, clean, *options)
        return loss.divergence(predict(x + r), clean).mean()


@pytest.mark.parametrize("change", range(len(CHANGES)))
@pytest.mark.parametrize("name", ["war", "ar", "tv"])
def test_a_step_has_the_bits_of_the_step_written_out(name: str, change: int) -> None:
    options = SETTINGS | CHANGES[change]
    (ours, our_gradient), (plain, plain_gradient) = (
        step(name, options, call) for call in (lambda loss, *given: loss(*given), written_out)
    )
    assert torch.equal(ours, plain) and torch.equal(our_gradient, plain_gradient)
