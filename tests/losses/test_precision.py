"""True float32 on GPUs: whichever interface of torch was used before, and what it saves AR and WAR."""

import multiprocessing
from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor, nn

from warlab.common import precision
from warlab.common.precision import float32_precision, tf32_allowed, true_float32, use_tf32
from warlab.engine.device import device_settings
from warlab.engine.provenance import provenance
from warlab.ot import chunks
from warlab.ot.sinkhorn import sinkhorn
from warlab.war import ARLoss, WARLoss

BACKENDS = torch.backends
COST = 1 - torch.eye(5)
EARLIER: dict[str, Callable[[], object]] = {
    "nothing": lambda: None,
    "allow_tf32": lambda: _allow(True),
    "no allow_tf32": lambda: _allow(False),
    "generic": lambda: setattr(BACKENDS, "fp32_precision", "tf32"),
    "generic ieee": lambda: setattr(BACKENDS, "fp32_precision", "ieee"),
    "matmul": lambda: setattr(BACKENDS.cuda.matmul, "fp32_precision", "tf32"),
    "cudnn": lambda: setattr(BACKENDS.cudnn, "fp32_precision", "tf32"),
    "conv": lambda: setattr(BACKENDS.cudnn.conv, "fp32_precision", "ieee"),
    "rnn": lambda: setattr(BACKENDS.cudnn.rnn, "fp32_precision", "ieee"),
    "high": lambda: torch.set_float32_matmul_precision("high"),
    "medium": lambda: torch.set_float32_matmul_precision("medium"),
}


class OnGpu(Tensor):
    """A tensor that says it is on a GPU, for the one decision that depends on it."""

    is_cuda = True  # type: ignore[assignment]


class Counting(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(16, 5))
        self.calls = 0

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        return self.net(x)


def _allow(value: bool) -> None:
    BACKENDS.cuda.matmul.allow_tf32 = BACKENDS.cudnn.allow_tf32 = value


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    before = float32_precision()
    yield
    precision._write(before)


def alone(test: Callable[[], None]) -> None:
    """Run a check in a process of its own: torch's settings cannot all be put back."""
    process = multiprocessing.get_context("fork").Process(target=test)
    process.start()
    process.join()
    assert process.exitcode == 0


@pytest.mark.parametrize("earlier", EARLIER.values(), ids=EARLIER)
def test_true_float32_is_limited_to_its_block_and_device_settings_leave_no_tf32(earlier: Callable[[], object]) -> None:
    def check() -> None:
        earlier()
        before = float32_precision()
        with true_float32():
            assert set(float32_precision().values()) == {"ieee"} and not tf32_allowed()
        assert float32_precision() == before
        with pytest.raises(ZeroDivisionError), true_float32():
            _ = 1 / 0
        assert float32_precision() == before
        device_settings(torch.get_num_threads())
        assert not tf32_allowed()
        assert not BACKENDS.cuda.matmul.allow_tf32 and not BACKENDS.cudnn.allow_tf32

    alone(check)


@pytest.mark.parametrize("loss", [ARLoss(), WARLoss(COST)], ids=["ar", "war"])
def test_on_a_gpu_the_clean_forward_is_reused_under_the_settings_of_a_training(loss: nn.Module) -> None:
    calls = []
    for prepare in (lambda: precision._write({"conv": "tf32"}), lambda: device_settings(torch.get_num_threads())):
        prepare()
        model, x = Counting(), torch.randn(3, 1, 4, 4)
        loss(model, x, model(x).as_subclass(OnGpu))
        calls.append(model.calls)
    assert calls == [4, 3]


def test_the_backward_of_many_rows_is_in_true_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, iterates = [], chunks._iterates
    monkeypatch.setattr(chunks, "_iterates", lambda *given: (seen.append(tf32_allowed()), iterates(*given))[1])
    rows = torch.rand(chunks.MANY, 5).softmax(1).requires_grad_()
    precision._write({"matmul": "tf32", "conv": "tf32"})
    value = sinkhorn(rows, rows.detach(), COST, 0.05, 3, log_domain=False).sum()
    value.backward()
    assert seen and not any(seen) and tf32_allowed()


def test_a_result_says_its_precision_and_the_versions_of_cuda_and_cudnn() -> None:
    use_tf32(False)
    found = provenance(1.0, 1.0)
    assert found["float32"] == {"matmul": "ieee", "conv": "ieee", "rnn": "ieee"}
    assert found["cuda"] == torch.version.cuda and "cudnn" in found
