"""The losses with models, wrappers, number formats and outputs as users have them."""

import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Literal

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import dropout
from torch.utils.checkpoint import checkpoint

from tests.conftest import ROOT
from tests.helpers import ddp_process
from warlab import ARLoss, TVLoss, WARLoss, word_cost, zero_one_cost
from warlab.war import AdversarialLoss

COST = zero_one_cost(5)
LOSSES = {"war": WARLoss(COST, epsilon=0.5), "ar": ARLoss(epsilon=0.5), "tv": TVLoss(epsilon=0.5)}
every_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)


def images(n: int = 6) -> Tensor:
    return torch.randn(n, 3, 8, 8, generator=torch.Generator().manual_seed(1))


def network(*middle: nn.Module, channels: int = 4) -> nn.Sequential:
    torch.manual_seed(0)
    head = nn.Flatten(), nn.Linear(channels * 36, 5)
    return nn.Sequential(nn.Conv2d(3, channels, 3), *middle, nn.Tanh(), *head)


def step(loss: AdversarialLoss, model: nn.Module, x: Tensor, **options: object) -> tuple[Tensor, list[Tensor]]:
    """Value and gradients of one step, from the same random numbers every time."""
    model.zero_grad()
    torch.manual_seed(2)
    value = loss(model, x, model(x), **options)
    value.backward()
    return value.detach(), [p.grad.clone() for p in model.parameters() if p.grad is not None]


@every_loss
def test_in_eval_mode_nothing_is_switched_and_no_statistic_moves(loss: AdversarialLoss) -> None:
    model = network(nn.BatchNorm2d(4), nn.Dropout(0.5)).eval()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    value, _ = step(loss, model, images())
    frozen = type(loss)(*([COST] if isinstance(loss, WARLoss) else []), epsilon=0.5, batchnorm_update=False)
    assert value > 0 and torch.equal(step(frozen, model, images())[0], value)
    assert not any(m.training for m in model.modules())
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())


NORMS = {
    "batch": lambda: nn.BatchNorm2d(4),
    "cumulative": lambda: nn.BatchNorm2d(4, momentum=None),
    "instance": lambda: nn.InstanceNorm2d(4, affine=True, track_running_stats=True),
    "plain instance": lambda: nn.InstanceNorm2d(4),
    "group": lambda: nn.GroupNorm(2, 4),
}


@pytest.mark.parametrize("norm", NORMS.values(), ids=NORMS)
@pytest.mark.parametrize("training", [True, False])
def test_statistics_move_with_updates_in_training_alone_and_the_value_stays(norm: Callable, training: bool) -> None:
    values = []
    for update in (False, True):
        model = network(norm())
        model(5 + 3 * images())  # statistics that differ from those of the batch
        model.train(training)
        before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
        logits = model(images()).detach() if not training else None
        torch.manual_seed(2)
        values.append(WARLoss(COST, epsilon=0.5, batchnorm_update=update)(model, images(), logits))
        same = [torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items()]
        assert all(same) != (update and training and any("running" in name for name in before))
    assert torch.equal(*values)


@every_loss
def test_after_an_error_the_model_is_as_it_was(loss: AdversarialLoss) -> None:
    model = network(nn.InstanceNorm2d(4, track_running_stats=True), nn.BatchNorm2d(4), nn.Dropout(0.5), nn.Tanh())
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    switches = [(m.training, getattr(m, "track_running_stats", None)) for m in model.modules()]
    careful = type(loss)(*([COST] if isinstance(loss, WARLoss) else []), dropout="off", batchnorm_update=False)
    model[-1].register_forward_hook(lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        careful(model, images())
    assert [(m.training, getattr(m, "track_running_stats", None)) for m in model.modules()] == switches
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())
    assert model.state_dict().keys() == before.keys()


@every_loss
def test_double_precision_stays_double(loss: AdversarialLoss) -> None:
    """Of the whole step: in single precision the probe of 1e-6 would drown."""
    value, gradients = step(loss, network().double(), images().double())
    assert value > 0 and len(gradients) == 4 and all(g.abs().sum() > 0 for g in gradients)
    assert value.dtype == torch.float64 and all(g.dtype == torch.float64 for g in gradients)
    single, _ = step(loss, network(nn.Dropout(0.5)), images())
    assert single.dtype == torch.float32


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_compiled_model_gives_the_same_step(backend: str) -> None:
    torch._dynamo.reset()
    model, x = network().double(), images().double()
    value, gradients = step(LOSSES["war"], model, x)
    compiled, its_gradients = step(LOSSES["war"], torch.compile(model, backend=backend), x)
    torch.testing.assert_close(compiled, value)
    torch.testing.assert_close(its_gradients, gradients)


def test_data_parallel_gives_the_same_step() -> None:
    model, x = network().double(), images().double()
    value, gradients = step(LOSSES["war"], model, x)
    wrapped, its_gradients = step(LOSSES["war"], nn.DataParallel(model), x)
    assert torch.equal(value, wrapped) and all(map(torch.equal, gradients, its_gradients))


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> list[dict]:
    """What two processes found, each with half of the batch."""
    folder = tmp_path_factory.mktemp("ddp")
    call = [sys.executable, "-m", "tests.helpers.ddp_process"]
    jobs = [subprocess.Popen([*call, str(rank), str(folder)], cwd=ROOT) for rank in range(2)]
    assert [job.wait(300) for job in jobs] == [0, 0]
    return [torch.load(folder / f"{rank}.pt") for rank in range(2)]


@pytest.mark.parametrize(("option", "call"), ddp_process.CASES)
def test_two_processes_give_the_gradient_of_one(option: str, call: str, processes: list[dict]) -> None:
    """Without the reducer in the final pass, or with its work done by the probe, their gradients would differ."""
    if option == "static" and call in ("clean_direction", "inside"):
        assert all("static_graph" in found[option, call] for found in processes)  # refused
        return
    (first, _), (second, _) = (found[option, call] for found in processes)
    whole = "model" if call == "accumulated" else call
    alone = ddp_process.gradients(ddp_process.Net(option), *ddp_process.batch(), whole)
    assert first.keys() >= alone.keys() and len(alone) == 4
    for name, expected in alone.items():
        torch.testing.assert_close(first[name], second[name], rtol=0, atol=0)
        torch.testing.assert_close(first[name], expected, rtol=1e-9, atol=1e-12)


def test_buffers_are_broadcast_by_the_clean_pass_alone(processes: list[dict]) -> None:
    """Three steps of three forward passes. Each counts 1 in the first process and 2 in the second, which gets the
    first's 6 before its last three."""
    assert [found["plain", "model"][1] for found in processes] == [9, 12]


def test_under_autocast_the_extra_passes_are_in_single_precision() -> None:
    model, x = network(), images()
    seen: list[torch.dtype] = []
    model[-1].register_forward_hook(lambda _module, _inputs, output: seen.append(output.dtype))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        value, gradients = step(LOSSES["war"], model, x)
        half, _ = step(LOSSES["war"], model, x.bfloat16())  # what an autocast layer before it hands over
    assert seen == [torch.bfloat16, *[torch.float32] * 3] * 2
    assert value.dtype == half.dtype == torch.float32 and all(g.dtype == torch.float32 for g in gradients)


class Checkpointed(nn.Module):
    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, x: Tensor) -> Tensor:
        return checkpoint(self.net, x, use_reentrant=False)


@pytest.mark.parametrize("dropout", ["independent", "shared", "off"])
def test_activation_checkpointing_gives_the_same_step(dropout: Literal["independent", "shared", "off"]) -> None:
    """As docs/loss.md says."""
    loss, net = WARLoss(word_cost(["cat", "dog", "truck", "ship", "bird"]), epsilon=0.5, dropout=dropout), network()
    value, gradients = step(loss, net, images())
    again, its_gradients = step(loss, Checkpointed(net), images())
    torch.testing.assert_close((again, its_gradients), (value, gradients))


def test_gradients_accumulate_over_batches() -> None:
    model, x = network(), images(8)
    parts = [step(LOSSES["ar"], model, part)[1] for part in x.split(4)]
    model.zero_grad()
    for part in x.split(4):
        torch.manual_seed(2)
        LOSSES["ar"](model, part, model(part)).backward()
    for weight, *expected in zip(model.parameters(), *parts, strict=True):
        torch.testing.assert_close(weight.grad, sum(expected))


def test_channels_last_gives_the_same_step() -> None:
    model, x = network().double(), images().double()
    value, gradients = step(LOSSES["war"], model, x)
    model = model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    other, its_gradients = step(LOSSES["war"], model, x.to(memory_format=torch.channels_last))
    torch.testing.assert_close(other, value)
    torch.testing.assert_close([g.contiguous() for g in its_gradients], gradients)


class Wrapped(nn.Module):
    """Returns its logits in an object, in a dict, or behind something else, and takes a second argument."""

    def __init__(self, net: nn.Module, wrap: str) -> None:
        super().__init__()
        self.net, self.wrap = net, wrap

    def forward(self, x: Tensor, shift: float = 0.0) -> object:
        logits = self.net(x) + shift
        return {"object": SimpleNamespace(logits=logits), "dict": {"logits": logits}, "tuple": (None, logits)}[
            self.wrap
        ]


@pytest.mark.parametrize("wrap", ["object", "dict", "tuple"])
def test_outputs_that_carry_logits_or_need_a_function(wrap: str) -> None:
    net, x = network().double(), images().double()
    value, _ = step(LOSSES["war"], net, x)
    model = Wrapped(net, wrap)
    options = {} if wrap != "tuple" else {"predict": lambda inputs: model(inputs, shift=1.0)[1]}
    torch.manual_seed(2)
    given = None if wrap == "tuple" else model(x)
    torch.testing.assert_close(LOSSES["war"](model, x, given, **options).detach(), value)


@every_loss
def test_a_mask_leaves_pixels_out(loss: AdversarialLoss) -> None:
    """The same as cutting them off, where pixels do not see each other; an empty mask gives 0."""
    torch.manual_seed(0)
    model, x = nn.Conv2d(3, 5, 1).double(), images().double()
    labels = torch.randint(5, (6, 8, 8))
    labels[:, 5:] = 255  # ignore_index
    expected, gradients = step(loss, model, x[:, :, :5])
    torch.manual_seed(2)
    probe = torch.randn_like(x[:, :, :5])
    padded = torch.cat([probe, torch.zeros_like(x[:, :, 5:])], 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "randn_like", lambda like: padded)
        value, its_gradients = step(loss, model, x, mask=labels != 255)
    torch.testing.assert_close(value, expected)
    torch.testing.assert_close(its_gradients, gradients)
    nothing, no_gradients = step(loss, model, x, mask=torch.zeros(6, 8, 8, dtype=torch.bool))
    assert nothing == 0 and all((g == 0).all() for g in no_gradients)


def test_a_sample_that_is_masked_counts_for_nothing() -> None:
    model, x = network().double(), images().double()
    keep = torch.tensor([True, True, False, True, False, True])
    probe, found = torch.randn_like(x), []
    for given, drawn, options in ((x, probe, {"mask": keep}), (x[keep], probe[keep], {})):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(torch, "randn_like", lambda _like, drawn=drawn: drawn)
            found.append(step(LOSSES["war"], model, given, **options))
    torch.testing.assert_close(*found)


@pytest.mark.parametrize("axis", [1, 2])
def test_sequences_name_the_axis_of_their_classes(axis: int) -> None:
    """(B, T, C) with T = C, where nothing else could tell; both ways give the same loss."""
    torch.manual_seed(0)
    x = torch.randn(4, 5, 6, dtype=torch.float64)
    net = nn.Linear(6, 5, dtype=torch.float64)
    mask = torch.rand(4, 5) < 0.7

    def value(class_dim: int) -> Tensor:
        torch.manual_seed(2)
        loss = WARLoss(word_cost(["cat", "dog", "truck", "ship", "bird"]), epsilon=0.5, class_dim=class_dim)
        return loss(net, x, predict=lambda z: net(z) if class_dim in (2, -1) else net(z).mT, mask=mask)

    torch.testing.assert_close(value(axis), value(-1))


class FunctionalDropout(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Linear(8, 5)

    def forward(self, x: Tensor) -> Tensor:
        return self.net(dropout(x, 0.5, self.training))


def test_shared_masks_cover_functional_dropout_and_off_does_not() -> None:
    """As the docstring says."""
    x = torch.randn(32, 8)
    assert TVLoss(epsilon=0.0, dropout="shared")(FunctionalDropout(), x) == 0
    assert TVLoss(epsilon=0.0, dropout="off")(FunctionalDropout(), x) > 0
    assert "functional.dropout" in (WARLoss.__doc__ or "")
