"""The device of a training: never silently the CPU where a GPU is expected. Environment variables mimic machines."""

import os
from pathlib import Path

import pytest
import torch

from warlab.engine import build, device, features, lock, provenance, timing
from warlab.engine.device import best_device, device_settings
from warlab.engine.lock import VISIBLE, gpu_lease, visible_entries
from warlab.errors import WarlabError


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine without a GPU."""
    for name in (VISIBLE, "WARLAB_GPUS", "WARLAB_DEVICE", *lock.SCHEDULERS):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(device, "device_count", lambda: 0)


@pytest.mark.parametrize(
    ("visible", "count", "seen", "expected"),
    [
        (None, 0, False, "cpu"),
        (None, 0, True, "cuda"),
        *((hidden, 2, False, "cpu") for hidden in ("", "-1", "NoDevFiles")),
    ],
)
def test_the_gpu_is_taken_where_torch_sees_one_and_none_is_hidden(
    visible: str | None, count: int, seen: bool, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: seen)
    monkeypatch.setattr(device, "device_count", lambda: count)
    if visible is not None:
        monkeypatch.setenv(VISIBLE, visible)
    assert best_device() == torch.device(expected)


@pytest.mark.parametrize("visible", ["0", "2,3", "GPU-8932f937", "MIG-1b2c", None])
def test_a_gpu_that_is_expected_but_not_seen_is_one_sentence(
    visible: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device, "device_count", lambda: 2)
    if visible is not None:
        monkeypatch.setenv(VISIBLE, visible)
    why = "2 of this machine" if visible is None else f"{VISIBLE}={visible}"
    with pytest.raises(WarlabError, match=rf"\({why}\).*sees none: update the driver") as error:
        best_device()
    assert "WARLAB_DEVICE=cpu" in str(error.value)


def test_a_leased_gpu_that_torch_does_not_see_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARLAB_GPUS", "1")
    with gpu_lease(1), pytest.raises(WarlabError, match=f"{VISIBLE}=0"):
        best_device()


def test_the_cpu_can_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setenv(VISIBLE, "0")
    monkeypatch.setenv("WARLAB_DEVICE", "cpu")
    assert best_device() == torch.device("cpu")
    assert provenance.device_name().startswith("CPU ")


def test_another_choice_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARLAB_DEVICE", "cuda:1")
    with pytest.raises(WarlabError, match="WARLAB_DEVICE is 'cuda:1'; set it to cpu, or unset it"):
        best_device()


@pytest.mark.parametrize("module", [build, features, timing])
def test_one_function_decides_for_all(module: object) -> None:
    assert getattr(module, "best_device", None) is best_device
    assert "is_available" not in Path(str(module.__file__)).read_text()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("value", "entries"),
    [
        ("2,3", ["2", "3"]),
        (" 0 , 1", ["0", "1"]),
        ("1,-1,2", ["1"]),
        ("", []),
        ("GPU-a1,MIG-GPU-b2/3/0", ["GPU-a1", "MIG-GPU-b2/3/0"]),
        ("NoDevFiles", []),
        ("0x1", []),
    ],
)
def test_a_list_of_gpus_is_read_as_cuda_reads_it(value: str, entries: list[str]) -> None:
    assert visible_entries(value) == entries


def test_settings_of_the_device_ask_cublas_for_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    monkeypatch.setattr(torch.utils.deterministic, "fill_uninitialized_memory", True)
    device_settings(1)
    assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"
    assert torch.utils.deterministic.fill_uninitialized_memory is False
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":16:8")
    device_settings(1)
    assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":16:8"
