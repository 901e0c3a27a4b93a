"""Networks: the parameter counts of the paper's tables, sizes of images, and what methods need of a network."""

from pathlib import Path

import pytest
import torch
from torch import nn

from tests.helpers.nets import count_parameters
from warlab import nets
from warlab.errors import WarlabError
from warlab.nets._library import LIBRARIES
from warlab.nets.preact_resnet18 import Block

COUNTS = {
    ("cnn9", 3, 10): 4_434_570,
    ("cnn9", 3, 100): 4_446_180,
    ("cnn9", 1, 10): 4_432_266,
    ("cnn2", 3, 10): 62_006,
    ("cnn6", 3, 10): 518_150,
    # 11 171 146 of public code without a last batch norm, and 2 · 512 for it
    ("preact_resnet18", 3, 10): 11_171_146 + 1024,
    ("mlp", 40, 3): 41 * 128 + 129 * 128 + 4 * 128 + 129 * 3,
}


@pytest.mark.parametrize("name, channels, classes", COUNTS)
def test_parameter_counts(name: str, channels: int, classes: int) -> None:
    assert count_parameters(nets.build(name, channels, classes)) == COUNTS[name, channels, classes]


@pytest.mark.parametrize("name", sorted(set(nets.trainable()) - set(LIBRARIES) - {"mlp", "resnet50"}))
def test_a_network_has_a_logit_for_each_class_and_a_gradient_for_each_weight(name: str) -> None:
    """Contract, also for networks of plug-ins that take images; the others have tests below."""
    defaults = {key: one.value for key, one in nets.NETS.settings(name).items()}
    net = nets.build(name, 3, 7, **defaults).train()
    logits = net(torch.randn(2, 3, 32, 32))
    assert logits.shape == ((2, 7, 32, 32) if nets.makes_maps(name) else (2, 7))
    logits.square().sum().backward()
    assert [key for key, weight in net.named_parameters() if weight.grad is None or not weight.grad.any()] == []


@pytest.mark.parametrize("name", ["cnn2", "cnn6", "cnn9", "preact_resnet18"])
@pytest.mark.parametrize("side", [16, 28, 32])
def test_every_size_of_image_goes_through(name: str, side: int) -> None:
    net = nets.build(name, 3, 7)
    x = torch.randn(2, 3, side, side)
    assert net(x).shape == (2, 7)
    net.eval()
    torch.testing.assert_close(net.head(net.features(x)), net(x))  # Iterative and D2L ask for both parts


def test_a_block_of_the_pre_activation_network_adds_to_its_input_before_any_activation() -> None:
    block = Block(4, 4, 1).eval()
    x = torch.randn(2, 4, 8, 8)
    change = block.second(block.norms[1](block.first(block.norms[0](x).relu())).relu())
    torch.testing.assert_close(block(x), x + change)
    nn.init.zeros_(block.second.weight)
    assert torch.equal(block(x), x)
    wider = Block(4, 6, 2).eval()
    nn.init.zeros_(wider.second.weight)
    torch.testing.assert_close(wider(x), wider.shortcut(wider.norms[0](x).relu()))  # of the activated input
    assert nets.build("preact_resnet18", 1, 10, width=0.25).body(torch.randn(1, 1, 32, 32)).shape == (1, 128, 4, 4)


def test_the_six_layers_have_no_dropout_and_a_grid_only_for_other_sizes() -> None:
    net = nets.build("cnn6", 3, 10)
    assert not any(isinstance(module, nn.Dropout | nn.Dropout2d) for module in net.modules())
    assert net.features(torch.randn(2, 3, 32, 32)).shape == (2, 256)


@pytest.fixture(scope="module")
def resnet() -> nn.Module:
    return nets.build("resnet50", 3, 14, weights="none")


def test_resnet50_has_a_new_last_layer(resnet: nn.Module) -> None:
    # 25 557 032 of torchvision's network, of which the last layer for 1000 classes has 2 049 000
    assert count_parameters(resnet) == 25_557_032 - 2_049_000 + 2049 * 14
    resnet.eval()
    with torch.no_grad():
        assert resnet(torch.randn(1, 3, 64, 64)).shape == (1, 14)  # a batch of one too


def test_resnet50_takes_weights_from_a_file(resnet: nn.Module, tmp_path: Path) -> None:
    from warlab.common.vision import torchvision

    torch.manual_seed(1)
    official = torchvision.models.resnet50()
    torch.save(official.state_dict(), tmp_path / "resnet50.pth")
    net = nets.build("resnet50", 3, 14, weights=str(tmp_path / "resnet50.pth"))
    assert torch.equal(net.body.conv1.weight, official.conv1.weight)


@pytest.mark.parametrize("content", [None, b"garbage", {"conv1.weight": torch.zeros(1)}])
def test_wrong_weights_are_one_sentence(tmp_path: Path, content: object) -> None:
    path = tmp_path / "w.pth"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        torch.save(content, path)
    with pytest.raises(WarlabError, match=r"weights .*w\.pth"):
        nets.build("resnet50", 3, 14, weights=str(path))


def test_a_network_downloads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another job fetches its ImageNet weights."""
    asked: list[object] = []
    monkeypatch.setattr("torch.hub.download_url_to_file", lambda *given, **_: asked.append(given))
    with pytest.raises(WarlabError, match="The weights imagenet of resnet50 cannot be read"):
        nets.build("resnet50", 3, 14, weights="imagenet")
    for weights in ("none", None):
        assert count_parameters(nets.build("resnet50", 1, 14, weights=weights)) > 0
    assert asked == []
    with pytest.raises(WarlabError, match="colour images, not for 1"):
        nets.build("resnet50", 1, 14, weights="some.pth")
