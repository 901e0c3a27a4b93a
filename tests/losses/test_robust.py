"""The robust losses as users call them: shapes, reductions, known values, and one sentence for wrong input."""

import math
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from tests.conftest import ROOT
from tests.helpers import on_logits
from warlab import losses, methods
from warlab.errors import WarlabError
from warlab.losses import (
    BackwardLoss,
    BootstrappingLoss,
    EpsilonSoftmaxLoss,
    ForwardLoss,
    GCELoss,
    NCEAGCELoss,
    NCERCELoss,
    RobustLoss,
    SymmetricCrossEntropyLoss,
    UnhingedLoss,
)

T = np.array([[0.6, 0.4, 0.0], [0.0, 0.8, 0.2], [0.0, 0.1, 0.9]])
NEEDED: dict[type[RobustLoss], tuple[Any, ...]] = {ForwardLoss: (T,), BackwardLoss: (T,)}  # arguments without a default
KINDS = [
    kind
    for name in losses.__all__
    if isinstance(kind := getattr(losses, name), type) and issubclass(kind, RobustLoss) and kind is not RobustLoss
]
METHODS: dict[str, type[RobustLoss]] = {
    "forward": ForwardLoss,
    "backward": BackwardLoss,
    "unhinged": UnhingedLoss,
    "gce": GCELoss,
    "sl": SymmetricCrossEntropyLoss,
    "bootsoft": BootstrappingLoss,
    "nce_rce": NCERCELoss,
    "nce_agce": NCEAGCELoss,
    "eps_softmax": EpsilonSoftmaxLoss,
}


def make(kind: type[RobustLoss], **options: Any) -> RobustLoss:
    return kind(*NEEDED.get(kind, ()), **options)


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        (ForwardLoss(T), -math.log(0.5 * 0.4 + 0.3 * 0.8 + 0.2 * 0.1)),
        (BackwardLoss(T), -float(np.linalg.inv(T)[1] @ np.log([0.5, 0.3, 0.2]))),
        (BootstrappingLoss(), -(0.025 * math.log(0.5) + 0.965 * math.log(0.3) + 0.01 * math.log(0.2))),
        (SymmetricCrossEntropyLoss(), 0.1 * -math.log(0.3) - math.log(1e-4) * 0.7),
        (GCELoss(), (1 - 0.3**0.7) / 0.7),
        (GCELoss(truncation=0.2), (0.2**0.7 - 0.3**0.7) / 0.7),
        (GCELoss(truncation=0.4), 0.0),
        (UnhingedLoss(), 1 - math.log(0.3) / 3),
        (NCERCELoss(), math.log(0.3) / math.log(0.03) - math.log(1e-4) * 0.7),
        (NCEAGCELoss(), math.log(0.3) / math.log(0.03) + 4 * (7**1.5 - 6.3**1.5) / 1.5),
        (EpsilonSoftmaxLoss(), -0.02 * math.log(0.3 / 1001) + 5 * 2 * 0.7),
    ],
    ids=repr,
)
def test_known_values_of_p_1_2_3(loss: RobustLoss, expected: float) -> None:
    """p = (0.5, 0.3, 0.2), label 1, computed by hand."""
    value = loss(torch.tensor([[0.5, 0.3, 0.2]]).log(), torch.tensor([1]))
    assert value.item() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    "loss",
    [
        ForwardLoss(np.eye(3)),
        BackwardLoss(torch.eye(3)),
        BootstrappingLoss(b=1.0),
        SymmetricCrossEntropyLoss(a=1.0, b=0.0),
        GCELoss(q=1e-4),
    ],
    ids=repr,
)
def test_limits_in_which_a_loss_is_the_cross_entropy(loss: RobustLoss) -> None:
    logits, labels = samples()
    torch.testing.assert_close(loss(logits, labels), cross_entropy(logits, labels), rtol=1e-3, atol=1e-6)


def samples() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    return 2 * torch.randn(8, 3, generator=generator), torch.randint(3, (8,), generator=generator)


@pytest.mark.parametrize("kind", KINDS)
def test_maps_are_rows_of_pixels_and_the_mean_is_that_of_all_values(kind: type[RobustLoss]) -> None:
    logits, labels = samples()
    each = make(kind, reduction="none")(logits, labels)
    assert each.shape == (8,)
    torch.testing.assert_close(make(kind)(logits, labels), each.mean())
    maps = logits.view(2, 2, 2, 3).movedim(-1, 1)
    pixels = make(kind, reduction="none")(maps, labels.view(2, 2, 2).int())
    torch.testing.assert_close(pixels, each.view(2, 2, 2))


@pytest.mark.parametrize("kind", KINDS)
def test_low_precision_and_extreme_logits_are_finite(kind: type[RobustLoss]) -> None:
    logits = torch.tensor([[200.0, 0, 0], [-200, 0, 0], [0, 0, 0]]).bfloat16().requires_grad_()
    value = make(kind)(logits, torch.tensor([1, 0, 2]))
    (gradient,) = torch.autograd.grad(value, logits)
    assert value.dtype == torch.float32 and value.isfinite() and gradient.isfinite().all()


@pytest.mark.parametrize("kind", KINDS)
def test_under_autocast_it_is_that_of_the_same_logits(kind: type[RobustLoss]) -> None:
    logits, labels = samples()
    half = logits.bfloat16()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        value = make(kind)(half, labels)
    assert torch.equal(value, make(kind)(half.float(), labels))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("label", [-1, -100, 3])
def test_labels_of_no_class_are_refused(kind: type[RobustLoss], label: int) -> None:
    """Also by `compute` alone, since the labels on a GPU are not checked before: -1 is not the last class."""
    logits, labels = samples()
    labels[3] = label
    with pytest.raises(WarlabError, match="for 3 classes give numbers from 0 to 2"):
        make(kind)(logits, labels)
    if label == -1:
        with pytest.raises((IndexError, RuntimeError)):
            make(kind).compute(logits, labels)


@pytest.mark.parametrize("kind", KINDS)
def test_it_trains_a_network_and_is_documented(kind: type[RobustLoss]) -> None:
    torch.manual_seed(0)
    x = torch.randn(90, 2)
    y = (x[:, 0] > 0).long() + 2 * (x[:, 1] > 1).long()
    y[y == 3] = 2
    network, loss = nn.Sequential(nn.Linear(2, 3), losses.ScoreNorm(3)), make(kind)
    optimiser = torch.optim.Adam(network.parameters(), 0.1)
    for _ in range(60):
        optimiser.zero_grad()
        loss(network(x), y).backward()
        optimiser.step()
    assert (network(x).argmax(1) == y).float().mean() > 0.75
    assert f"`{kind.__name__}`" in (ROOT / "docs" / "losses.md").read_text()
    assert f"warlab.losses.{kind.__name__}" in (ROOT / "docs" / "api.md").read_text()


@pytest.mark.parametrize("name", METHODS)
def test_a_method_has_the_defaults_of_its_loss_and_passes_every_setting_on(name: str) -> None:
    own = {field.name: field.default for field in fields(METHODS[name]) if field.name != "reduction"}
    known = {key: one.value for key, one in methods.METHODS.settings(name).items() if key in own}
    assert known.items() <= own.items()
    logits, labels = samples()
    for settings in (known, {key: value / 2 for key, value in known.items()}):
        loss = METHODS[name](*NEEDED.get(METHODS[name], ()), **settings)
        facts = {"predictions": torch.from_numpy(T)} if METHODS[name] in NEEDED else {}
        method = on_logits.make(name, labels, 3, facts, **settings, **({"percentile": None} if facts else {}))
        value, gradient, _ = on_logits.evaluate(method, logits, labels)
        given = logits.clone().requires_grad_()
        expected = loss(given, labels)
        assert value == expected.item()
        assert torch.equal(gradient, torch.autograd.grad(expected, given)[0])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("logits", "labels", "words"),
    [
        (torch.zeros(4, 3), torch.zeros(4, 3), "one-hot"),
        (torch.zeros(4, 3), torch.zeros(5, dtype=torch.long), r"shape \(4,\)"),
        (torch.zeros(4, dtype=torch.long), torch.zeros(4, 3), "give the model's output"),
        (torch.zeros(4, 3, 2, 2), torch.zeros(4, dtype=torch.long), r"shape \(4, 2, 2\)"),
        (torch.zeros(4, 1), torch.zeros(4, dtype=torch.long), "two classes or more"),
    ],
)
def test_wrong_batches_are_one_sentence(kind: type[RobustLoss], logits: Tensor, labels: Tensor, words: str) -> None:
    with pytest.raises(WarlabError, match=words):
        make(kind)(logits, labels)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: GCELoss(q=0.0), "GCELoss: q must be above 0 and at most 1, not 0.0"),
        (lambda: GCELoss(truncation=2.0), "from 0 to 1"),
        (lambda: GCELoss(reduction="sum"), '"mean" or "none"'),  # type: ignore[arg-type]
        (lambda: BootstrappingLoss(float("nan")), "from 0 to 1"),
        (lambda: ForwardLoss(np.ones((3, 3))), "sum to 1"),
        (lambda: BackwardLoss(np.eye(3)[:2]), "square"),
        (lambda: ForwardLoss(np.eye(4))(*samples()), "4 classes but the logits have 3"),
        (lambda: GCELoss().masked(*samples(), torch.ones(1) > 0), "truncation must be a number"),
        (lambda: GCELoss(truncation=0.5).masked(*samples(), torch.ones(1) > 0), "shaped as the labels"),
    ],
)
def test_wrong_settings_are_one_sentence(call: Any, words: str) -> None:
    with pytest.raises(WarlabError, match=words):
        call()
