"""Networks of torchvision and timm by name: their first and last layers, their weights, and wrong names."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from tests.helpers.environments import installed_apart
from tests.helpers.runs import study
from warlab import nets
from warlab.common.vision import torchvision
from warlab.config.validate import check_layer
from warlab.errors import WarlabError
from warlab.nets import _library

TIMM = "timm==1.0.31"


@pytest.fixture(scope="module")
def timm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Install timm into a folder of its own; it needs nothing but what is installed already."""
    with installed_apart(tmp_path_factory.mktemp("timm"), TIMM):
        _library.models.cache_clear()
        yield
    _library.models.cache_clear()


def check_network(name: str, channels: int) -> None:
    nets.check(name)
    net, x = nets.build(name, channels, 7), torch.randn(2, channels, 32, 32)
    assert net(x).shape == (2, 7)
    net.eval()
    torch.testing.assert_close(net.head(net.features(x)), net(x))
    assert len([one for one in net.head.modules() if isinstance(one, torch.nn.Dropout)]) == 0


@pytest.mark.parametrize("name", ["resnet18", "mobilenet_v3_small", "densenet121"])
@pytest.mark.parametrize("channels", [1, 3])
def test_a_network_of_torchvision_has_our_channels_and_classes(name: str, channels: int) -> None:
    check_network(f"torchvision.{name}", channels)


@pytest.mark.parametrize("name", ["resnet10t", "convnext_atto", "mobilenetv3_small_050"])
@pytest.mark.parametrize("channels", [4, 3])
def test_a_network_of_timm_has_our_channels_and_classes(timm: None, name: str, channels: int) -> None:
    check_network(f"timm.{name}", channels)


def test_weights_come_from_a_file_except_those_of_the_last_layer(timm: None, tmp_path: Path) -> None:
    from timm import create_model

    for name, official in (
        ("torchvision.mobilenet_v3_small", torchvision.models.mobilenet_v3_small(num_classes=9)),
        ("timm.mobilenetv3_small_050", create_model("mobilenetv3_small_050", num_classes=9)),
    ):
        torch.save(official.state_dict(), tmp_path / "own.pth")
        net = nets.build(name, 3, 4, weights=str(tmp_path / "own.pth"), head_dropout=0.5)
        state = official.state_dict()
        taken = {key: torch.equal(value, state[key]) for key, value in net.body.state_dict().items()}
        assert all(taken.values()) and len(state) - len(taken) == 2, "all but weight and bias of the last layer"
        assert isinstance(net.head[0], torch.nn.Dropout)
        for changed in ({**state, "other": state.popitem()[1]}, dict(list(state.items())[1:])):
            torch.save(changed, tmp_path / "own.pth")
            with pytest.raises(WarlabError, match=rf"weights .*own\.pth of {name} .* do not fit"):
                nets.build(name, 3, 4, weights=str(tmp_path / "own.pth"))


@pytest.mark.parametrize(
    "name, sentence",
    [
        ("torchvision.resnet81", "no network 'torchvision.resnet81'; did you mean 'torchvision.resnet18'"),
        ("torchvision", "no network 'torchvision'; did you mean 'torchvision.resnet18'"),
        ("torchvison.resnet18", "no network 'torchvison.resnet18'; did you mean"),
        ("cnn9.resnet18", "no network 'cnn9.resnet18'"),
        ("timm.resnet18", "timm, which is missing: pip install"),
    ],
)
def test_a_wrong_name_is_one_sentence(name: str, sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = _library.version  # an earlier test may have installed timm
    monkeypatch.setattr(_library, "version", lambda library: real({"timm": "no-such-package"}.get(library, library)))
    _library.models.cache_clear()
    with pytest.raises(WarlabError, match=sentence) as error:
        nets.check(name)
    assert len(str(error.value)) < 300


def test_a_wrong_name_in_a_scale_is_refused_before_anything_is_built() -> None:
    for name, sentence in (("torchvision.resnet81", "did you mean"), ("torchvision.resnet18", "no 'width'")):
        with pytest.raises(WarlabError, match=sentence):
            check_layer(study().numbers, {"nets": {name: {"width": 2}}}, "my scale")
    known = {"torchvision": {"weights": "none"}, "torchvision.resnet18": {"head_dropout": 0.5}}
    check_layer(study().numbers, {"nets": known}, "my scale")


def test_what_a_network_cannot_do_is_said_before_training(timm: None) -> None:
    with pytest.raises(WarlabError, match=r"torchvision\.squeezenet1_0 does not end in a single dense layer"):
        nets.build("torchvision.squeezenet1_0", 3, 4)
    net = nets.build("timm.vit_tiny_patch16_224", 3, 4)
    with pytest.raises(WarlabError, match="vit_tiny_patch16_224 cannot take images of 3 × 32 × 32"):
        nets.check_images(net, "timm.vit_tiny_patch16_224", torch.zeros(1, 3, 32, 32))


def test_planning_asks_the_library_once(tmp_path: Path) -> None:
    """The names are kept in Snakemake's folder, because a list of them takes the import of torch."""
    (tmp_path / ".snakemake").mkdir()
    code = "import sys; from warlab import nets; nets.check('torchvision.resnet18'); print('torch' in sys.modules)"
    call = [sys.executable, "-c", code]
    loaded = [subprocess.run(call, cwd=tmp_path, capture_output=True, text=True).stdout for _ in range(2)]
    assert loaded == ["True\n", "False\n"]
