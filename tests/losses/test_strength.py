"""How strong a loss is: an epsilon relative to the input, the warning of a loss that does nothing, and the ratio."""

import copy
import warnings
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from tests.helpers.nets import Network
from tests.helpers.on_logits import make
from warlab.common.vision import torchvision
from warlab.errors import WarlabError
from warlab.war import AdversarialLoss, ARLoss, TVLoss, WARLoss, adversarial
from warlab.war.watch import CALLS

COST = (1 - torch.eye(5)) * torch.rand(5, 5, generator=torch.Generator().manual_seed(3))
COST = (COST + COST.T) / 2
KINDS: dict[str, Any] = {"war": lambda **options: WARLoss(COST, **options), "ar": ARLoss, "tv": TVLoss}


@pytest.fixture
def x() -> Tensor:
    return torch.randn(7, 1, 8, 8, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("dropout", ["independent", "off"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_relative_epsilon_is_a_share_of_each_samples_norm_and_knows_no_scale(
    kind: str, dropout: str, x: Tensor
) -> None:
    x[1] *= 3
    x[2] = 0
    values = []
    for scale in (1.0, 255.0):
        network = Network(scale=scale)
        torch.manual_seed(0)
        value = KINDS[kind](relative_epsilon=0.1, dropout=dropout)(network, scale * x)
        value.backward()
        r = (network.inputs[-1] - scale * x).flatten(1).norm(dim=1)
        torch.testing.assert_close(r, 0.1 * scale * x.flatten(1).norm(dim=1), rtol=1e-3, atol=1e-6)
        assert r[2] == 0 and all(weight.grad.isfinite().all() for weight in network.parameters())  # type: ignore[union-attr]
        values.append(value.item())
    assert values[0] == pytest.approx(values[1], rel=0.01)


@pytest.mark.parametrize("kind", KINDS)
def test_a_network_without_dropout_is_probed_as_one_whose_dropout_is_off(kind: str, x: Tensor) -> None:
    """No mask differs in either, and a probe of 1e-6 would drown in float32."""
    lengths = []
    for p, dropout in ((0.0, "independent"), (0.3, "off"), (0.3, "independent")):
        network = Network(p)
        torch.manual_seed(0)
        KINDS[kind](epsilon=0.1, dropout=dropout)(network, x)
        lengths.append((network.inputs[-2] - x).flatten(1).norm(dim=1).mean().item())
    assert lengths == pytest.approx([1e-4, 1e-4, 1e-6], rel=0.2)


def test_epsilon_is_absolute_or_relative() -> None:
    with pytest.raises(WarlabError, match="not both"):
        TVLoss(epsilon=0.1, relative_epsilon=0.01)
    with pytest.raises(WarlabError, match="share of each sample's norm and cannot be -1"):
        TVLoss(relative_epsilon=-1)
    assert TVLoss(relative_epsilon=0.01).epsilon is None


def test_the_papers_setting_has_a_name_and_the_methods_keep_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adversarial, "EPSILON", None)
    monkeypatch.setattr(adversarial, "RELATIVE_EPSILON", 0.05)
    assert (TVLoss().epsilon, TVLoss().relative_epsilon) == (None, 0.05)
    for loss in (TVLoss.paper(), ARLoss.paper(), WARLoss.paper(COST, 0.05)):
        assert (loss.epsilon, loss.relative_epsilon) == (0.005, None)
    assert TVLoss.paper(relative_epsilon=0.1).epsilon is None
    assert repr(TVLoss.paper(direction="random")) == "TVLoss(epsilon=0.005, dropout='independent', direction='random')"
    y = torch.zeros(3, dtype=torch.long)
    for name in ("war", "ar", "tv"):
        method: Any = make(name, y, 5, {"cost": COST})
        assert method.adversarial_loss.epsilon == 0.005
        method = make(name, y, 5, {"cost": COST}, relative_epsilon=0.01)
        assert (method.adversarial_loss.epsilon, method.adversarial_loss.relative_epsilon) == (None, 0.01)


# ---- the warning


def messages(loss: AdversarialLoss, model: nn.Module, x: Tensor, calls: int = CALLS) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(calls):
            loss(model, x, model(x))
    return [str(one.message) for one in caught if "next to nothing" in str(one.message)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("options", "dropout", "warned"),
    [
        ({}, 0.0, True),
        ({}, 0.3, False),  # the paper's setting with dropout
        ({"dropout": "off"}, 0.3, True),
        ({"relative_epsilon": 0.1}, 0.0, False),
        ({"epsilon": 0.0}, 0.3, False),
    ],
)
def test_it_says_once_when_it_does_nothing(
    kind: str, options: dict[str, Any], dropout: float, warned: bool, x: Tensor
) -> None:
    network = Network(dropout)
    said = messages(KINDS[kind](**options), network, x, 2 * CALLS)
    assert len(said) == warned
    if warned:
        assert 'direction="random" with relative_epsilon' in said[0] and f"first {CALLS} calls" in said[0]


@pytest.mark.parametrize(
    ("dropout", "training", "options", "remedy"),
    [
        (0.0, True, {}, 'Use a model with dropout, or pass direction="random" with relative_epsilon=0.15.'),
        (0.3, False, {}, "Call model.train(), which switches the dropout of the model on, or pass"),
        (0.3, True, {"dropout": "shared"}, 'Leave dropout="independent" instead of "shared", or pass'),
        (0.0, True, {"direction": "random", "relative_epsilon": 0.15}, "dropout, or a longer perturbation; a network"),
    ],
)
def test_what_it_advises_is_not_what_is_done_already(
    dropout: float, training: bool, options: dict[str, Any], remedy: str, x: Tensor
) -> None:
    network = Network(dropout).train(training)
    torch.nn.init.zeros_(network.net[-1].weight)  # type: ignore[arg-type]
    (said,) = messages(WARLoss(COST, **options), network, x)
    assert remedy in said


def test_a_model_that_returns_nan_is_not_said_to_need_a_longer_perturbation(x: Tensor) -> None:
    network = Network()
    torch.nn.init.constant_(network.net[-1].weight, torch.nan)  # type: ignore[arg-type]
    assert messages(WARLoss(COST), network, x) == []


def test_a_network_that_has_learned_nothing_yet_but_has_dropout_is_no_reason_to_warn(x: Tensor) -> None:
    network = Network(0.3)
    with torch.no_grad():
        network.net[-1].weight.mul_(1e-4)  # type: ignore[union-attr,operator]
    assert messages(TVLoss(), network, x) == []


def test_what_it_sees_of_itself_changes_no_bit_and_makes_a_gpu_wait_once(
    monkeypatch: pytest.MonkeyPatch, x: Tensor
) -> None:
    network, loss = Network(0.3), WARLoss(COST, dropout="off")
    waits = []
    monkeypatch.setattr(Tensor, "__float__", lambda tensor: waits.append(1) or tensor.item())
    torch.manual_seed(0)
    first = loss(network, x)
    assert waits == []
    with pytest.warns(UserWarning, match="next to nothing"):
        for _ in range(CALLS):
            loss(network, x)
    assert len(waits) == 2
    copied, network = copy.deepcopy(loss), Network(0.3)
    torch.manual_seed(0)
    assert torch.equal(copied(network, x), first)
    assert len(waits) == 2


def test_on_the_resnet_of_torchvision_the_default_acts_or_says_that_it_does_not() -> None:
    """ResNet-18 has no dropout."""
    torch.manual_seed(0)
    network, x, y = torchvision.models.resnet18(num_classes=5), torch.randn(4, 3, 32, 32), torch.arange(4)
    war = WARLoss(COST)
    assert messages(war, network, x) or war.ratio(network, x, y) > 0.01


# ---- the ratio


@pytest.mark.parametrize(
    ("kind", "direction"),
    [*((kind, direction) for kind in KINDS for direction in ("sum", "random")), ("war", "clean"), ("war", "mean")],
)
def test_the_ratio_is_that_of_the_penalty_to_the_cross_entropy(kind: str, direction: str, x: Tensor) -> None:
    network, y = Network().double(), torch.arange(7) % 5
    loss = KINDS[kind](relative_epsilon=0.3, direction=direction)
    x = x.double()
    before = copy.deepcopy(network.state_dict())
    torch.manual_seed(1)
    ratio = loss.ratio(network, x, y)
    assert all(torch.equal(before[name], value) for name, value in network.state_dict().items())
    assert not x.requires_grad and all(weight.grad is None for weight in network.parameters())
    torch.manual_seed(1)
    x.requires_grad_(direction == "clean")
    logits = network(x)
    p = logits.softmax(1)
    floor = loss.divergence(p, p).mean()
    expected = (loss(network, x, logits) - floor) / cross_entropy(logits, y)
    assert ratio == pytest.approx(expected.item(), rel=1e-6) and ratio > 0
    assert loss.batchnorm_update
    torch.manual_seed(1)
    single = loss.ratio(network, x.detach().float(), y)  # converted, as by the loss
    assert single == pytest.approx(ratio, rel=1e-4)


def test_the_ratio_without_the_dropout_of_the_training_would_give_a_beta_that_is_much_too_large(x: Tensor) -> None:
    network, y = Network(dropout=0.3), torch.arange(7) % 5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wanted = WARLoss(COST).ratio(network, x, y)
        assert WARLoss(COST, relative_epsilon=0.3, dropout="off").ratio(network.eval(), x, y) > 0
    with pytest.warns(UserWarning, match=r"call model\.train\(\) before `ratio`"):
        assert WARLoss(COST).ratio(network, x, y) < 0.1 * wanted


MAPS = torch.arange(2 * 4 * 6).reshape(2, 4, 6) % 5


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (MAPS.where(MAPS != 4, 255), "from 0 to 255; for 5 classes"),
        (MAPS.where(MAPS != 4, -100), "from -100 to 3"),
        (MAPS.transpose(1, 2), r"give class numbers of shape \(2, 4, 6\)"),
        (MAPS.float(), "torch.float32"),
        (MAPS.tolist(), "a list"),
    ],
)
def test_the_ratio_refuses_labels_that_do_not_fit(labels: Any, words: str) -> None:
    torch.manual_seed(0)
    network, images = torch.nn.Conv2d(3, 5, 1), torch.randn(2, 3, 4, 6)
    with pytest.raises(WarlabError, match=words):
        TVLoss(relative_epsilon=0.3).ratio(network, images, labels)


@pytest.mark.parametrize("fits", [True, False])
def test_nothing_is_compared_to_a_cross_entropy_of_zero(fits: bool) -> None:
    network, labels = torch.nn.Linear(4, 3), torch.zeros(8, dtype=torch.long)
    torch.nn.init.zeros_(network.weight)
    network.bias.data = torch.tensor([200.0 * fits, 0, 0])
    with pytest.raises(WarlabError, match=r"The cross entropy on this batch is 0, to which nothing can be compared"):
        TVLoss().ratio(network, torch.randn(8, 4), labels, mask=torch.full((8,), fits))


@pytest.mark.parametrize("ignored", [255, -100])
def test_labels_that_the_mask_leaves_out_of_the_ratio_may_be_any_number(ignored: int) -> None:
    ratios = []
    for labels in (MAPS, MAPS.where(MAPS != 4, ignored).int()):
        torch.manual_seed(0)
        network, images = torch.nn.Conv2d(3, 5, 1), torch.randn(2, 3, 4, 6)
        ratios.append(TVLoss(relative_epsilon=0.3).ratio(network, images, labels, mask=MAPS != 4))
    assert ratios[0] == ratios[1] > 0


# ---- precision


@pytest.mark.parametrize("kind", KINDS)
def test_a_large_perturbation_is_computed_in_the_models_own_precision(kind: str, x: Tensor) -> None:
    """Under autocast to bfloat16 from 2^-7 on: one forward less, and almost the same value as in float32."""
    values = {}
    for epsilon, autocast in ((0.05, True), (0.05, False), (0.005, True)):
        network, loss = Network(), KINDS[kind](relative_epsilon=epsilon)
        torch.manual_seed(2)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
            value = loss(network, x, network(x))
            value.backward()
        values[epsilon, autocast] = value.item()
        coarse = [torch.bfloat16] * 3
        exact = [torch.bfloat16 if autocast else torch.float32, *[torch.float32] * (3 if autocast else 2)]
        assert network.precisions == (coarse if autocast and epsilon > 2**-7 else exact)
        assert value.dtype == torch.float32
    assert values[0.05, True] == pytest.approx(values[0.05, False], rel=0.25)


def test_coarse_logits_are_no_reference_for_exact_passes(x: Tensor) -> None:
    """The loop's pass under autocast, and the loss outside of it, or logits that were made float32 at the end of the
    model: the clean pass is computed again."""
    network, loss = Network(), TVLoss(relative_epsilon=0.05)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = network(x)
    loss(network, x, logits)
    assert network.precisions == [torch.bfloat16, *[torch.float32] * 3]
    network = Network()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        TVLoss()(network, x, network(x).float(), predict=lambda inputs: network(inputs).float())
    assert network.precisions == [torch.bfloat16, *[torch.float32] * 3]


@pytest.mark.parametrize("kind", KINDS)
def test_without_dropout_in_the_model_the_loops_own_pass_is_the_reference(kind: str, x: Tensor) -> None:
    passes, values = [], []
    for given in (True, False):
        network = Network()
        logits = network(x)
        torch.manual_seed(4)
        values.append(
            KINDS[kind](direction="random", relative_epsilon=0.2, dropout="off")(network, x, logits if given else None)
        )
        passes.append(len(network.inputs))
    torch.testing.assert_close(*values)
    assert passes == [2, 3]
    network = Network(dropout=0.5)
    KINDS[kind](direction="random", relative_epsilon=0.2, dropout="off")(network, x, network(x))
    assert len(network.inputs) == 3
