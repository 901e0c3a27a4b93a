"""TF32, channels last and compilation: off by default, switched on by the owner of a GPU, part of a run's identity."""

import json
from functools import partial
from pathlib import Path

import pytest
import torch

from tests.conftest import ROOT, blobs
from tests.helpers.runs import metrics, resolved, run_training, weights, write_files
from warlab.artefacts.run_config import DeviceOptions, RunConfig
from warlab.artefacts.run_result import RunResult
from warlab.common import precision
from warlab.common.precision import float32_precision, true_float32
from warlab.config.study import load_study
from warlab.engine.device import device_settings, memory_format, place
from warlab.engine.images import Images
from warlab.errors import WarlabError
from warlab.ids import RunId
from warlab.nets import build

CELL = RunId("fashion_mnist", "asym-40", "cnn9", "cce", 0)
CPU, GPU = torch.device("cpu"), torch.device("cuda")


@pytest.fixture(autouse=True)
def defaults_afterwards() -> object:
    yield
    device_settings(torch.get_num_threads())


def with_device(**options: bool) -> dict:
    return load_study({"scale": "smoke", **({"device": options} if options else {})}, ROOT).settings.run(CELL).to_dict()


def test_only_what_is_on_is_part_of_a_run() -> None:
    assert "device" not in with_device() and with_device(tf32=False) == with_device()
    assert with_device(tf32=True, compile=False) == with_device() | {"device": {"tf32": True}}


def test_settings_survive_the_way_through_json() -> None:
    for run in (with_device(), with_device(channels_last=True)):
        assert RunConfig.from_dict(json.loads(json.dumps(run))).to_dict() == run
    assert RunConfig.from_dict(with_device(compile=True)).device == DeviceOptions(compile=True)


@pytest.mark.parametrize("device", [{"tf23": True}, {"tf32": "yes"}, ["tf32"]])
def test_other_options_are_refused_in_one_sentence(device: object) -> None:
    with pytest.raises(WarlabError, match=r"device"):
        load_study({"scale": "smoke", "device": device}, ROOT)


def test_tf32_is_switched_on_and_off_again_and_never_reaches_the_perturbation() -> None:
    device_settings(torch.get_num_threads(), DeviceOptions(tf32=True))
    assert set(float32_precision().values()) == {"tf32"} and precision.tf32_allowed()
    with true_float32():
        assert set(float32_precision().values()) == {"ieee"}
    assert precision.tf32_allowed()
    device_settings(torch.get_num_threads())
    assert not precision.tf32_allowed()


def test_channels_last_is_the_format_of_gpus_where_it_is_asked_for() -> None:
    assert memory_format(CPU) == torch.channels_last and memory_format(GPU) == torch.contiguous_format
    device_settings(torch.get_num_threads(), DeviceOptions(channels_last=True))
    assert memory_format(GPU) == torch.channels_last
    pixels = Images(blobs(4, 2)[0].repeat(3, 1), [0.5] * 3, [0.5] * 3, CPU)
    assert pixels[torch.arange(4)].is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize(
    ("method", "backend"),
    [("war_w2v", "aot_eager"), pytest.param("war_w2v", "inductor", marks=pytest.mark.slow)],
)
def test_a_compiled_network_trains_as_the_other_does(
    method: str, backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Same weights by name, close numbers, and another identity. Dropout would draw other numbers. The back end that
    writes code of its own takes minutes; the one without it goes the same way through the networks and their hooks."""
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend=backend))
    files, run = write_files(tmp_path), resolved(method, epochs=1, warmup=0)
    run["net"]["settings"]["dropout"] = 0.0
    for name, device in (("plain", {}), ("compiled", {"device": {"compile": True}})):
        run_training(run | device, files, tmp_path / name)
    plain, compiled = (RunResult.load(tmp_path / name / "result.json") for name in ("plain", "compiled"))
    assert plain.identity.id != compiled.identity.id and compiled.run.device == DeviceOptions(compile=True)
    assert [one.keys() for one in weights(tmp_path / "plain")] == [one.keys() for one in weights(tmp_path / "compiled")]
    loss = [[float(line.split(",")[2]) for line in metrics(tmp_path / name)[1:]] for name in ("plain", "compiled")]
    assert loss[0] == pytest.approx(loss[1], rel=0.02)


def test_a_compiled_network_is_compiled() -> None:
    device_settings(torch.get_num_threads(), DeviceOptions(compile=True))
    net = place(build("cnn9", 1, 3, width=0.0625), CPU).eval()
    assert "compile" in repr(net.forward) or hasattr(net.forward, "_torchdynamo_orig_callable")
