"""forget = estimated: the share of wrong labels from noisy labels and networks that have not seen them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tests.conftest import logged
from tests.helpers.on_logits import fit, make
from tests.helpers.runs import CLASSES, resolved, run_training, weights, write_files
from warlab.common.files import read_json
from warlab.engine.images import Images, TrainingData
from warlab.errors import WarlabError
from warlab.methods import _noise_rate
from warlab.methods._noise_rate import noise_rate, surest_labels
from warlab.methods.base import Batch, Step

METHODS = ("coteaching", "coteaching_plus", "jocor")
UNKNOWN = {"noise_rate": float("nan"), "realised_rate": float("nan")}


def noisy(truth: np.ndarray, rate: float, kind: str, rng: np.random.Generator) -> np.ndarray:
    """asym flips every second class into the next, so half of the rate is the share of wrong labels."""
    flip = rng.random(len(truth)) < rate * ((truth % 2 == 0) if kind == "asym" else 1)
    shift = 1 if kind == "asym" else rng.integers(1, 4, len(truth))
    return np.where(flip, (truth + shift) % 4, truth)


def task(rate: float, kind: str, n: int = 2400) -> tuple[TrainingData, Tensor, float]:
    """Four clusters that touch, as 2x2 images: data, noisy labels and the share of them that is wrong."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, n)
    pixels = np.clip(60 + 100 * np.eye(4)[truth] + rng.normal(0, 25, (n, 4)), 0, 255).astype(np.uint8)
    labels = noisy(truth, rate, kind, rng)
    images = Images(pixels.reshape(n, 1, 2, 2), [0.4], [0.2], torch.device("cpu"))
    return (
        TrainingData(images, torch.from_numpy(labels), 60, 0),
        torch.from_numpy(labels),
        float((labels != truth).mean()),
    )


def train(name: str, data: TrainingData, labels: Tensor, epochs: int = 9) -> Any:
    return fit(make(name, labels, 4, UNKNOWN, forget="estimated", ramp=8), data, epochs)


def test_the_estimate_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """The surest half of four and of two samples."""
    monkeypatch.setattr(_noise_rate, "SUREST", 0.5)
    monkeypatch.setattr(_noise_rate, "LEAST", 1)
    p = torch.tensor([[0.9, 0.1], [0.7, 0.3], [0.6, 0.4], [0.8, 0.2], [0.1, 0.9], [0.2, 0.8]])
    y = torch.tensor([0, 1, 1, 1, 1, 1])
    # S_0: 0.9 labelled 0, 0.8 labelled 1; S_1: 0.9 labelled 1. A sixth of the labels is 0, so a third is truly 0
    assert surest_labels(p, y).tolist() == [[0.5, 0.5], [0.0, 1.0]]
    assert noise_rate(p, y) == pytest.approx(1 - (1 / 3 * 0.5 + 2 / 3 * 1.0))


def test_a_class_that_is_never_predicted_keeps_its_labels() -> None:
    p = torch.tensor([[0.8, 0.1, 0.1]]).repeat(6, 1)
    assert noise_rate(p, torch.zeros(6, dtype=torch.long)) == pytest.approx(0)
    assert surest_labels(p, torch.zeros(6, dtype=torch.long))[1:].tolist() == [[0, 1, 0], [0, 0, 1]]


def test_errors_of_which_the_network_is_unsure_are_no_noise() -> None:
    """All labels are right, and a tenth of the predictions is wrong and unsure."""
    y = torch.arange(1000) % 2
    wrong = torch.rand(1000, generator=torch.Generator().manual_seed(0)) < 0.1
    said, sure = torch.where(wrong, 1 - y, y), torch.where(wrong, 0.6, 0.9)
    p = torch.where(torch.arange(2) == said[:, None], sure[:, None], 1 - sure[:, None])
    assert noise_rate(p, y) == pytest.approx(0) and (p.argmax(1) != y).float().mean() > 0.05


@pytest.mark.parametrize("kind, rate", [("asym", 0.4), ("asym", 0.2), ("sym", 0.3), ("sym", 0.0)])
def test_the_estimate_is_near_the_share_of_wrong_labels(kind: str, rate: float) -> None:
    data, labels, wrong = task(rate, kind)
    method = train("coteaching", data, labels)
    assert method.tau == pytest.approx(wrong, abs=0.05)


@pytest.mark.parametrize("name", METHODS)
def test_all_three_methods_estimate_it_once_and_forget_it_from_then_on(name: str) -> None:
    data, labels, wrong = task(0.4, "asym")
    method = train(name, data, labels, epochs=8)
    assert method.tau == 0.0
    method = train(name, data, labels, epochs=9)
    assert method.tau == pytest.approx(wrong, abs=0.05)
    method.remainder = 0.0
    assert method.count_kept(1000, Step(8, 20)) == int(1000 * (1 - method.tau))


def test_a_resumed_run_knows_the_estimate_and_does_not_make_it_again() -> None:
    data, labels, _ = task(0.4, "asym", 400)
    first = train("coteaching", data, labels)
    resumed = make("coteaching", labels, 4, UNKNOWN, forget="estimated", ramp=8)
    resumed.load_state_dict(first.state_dict())
    resumed.on_epoch_start([], Step(9, 20), data)  # without networks an estimate would fail
    assert resumed.tau == first.tau > 0  # type: ignore[attr-defined]


def test_in_the_warm_up_no_network_sees_the_half_that_it_is_asked_about() -> None:
    data, labels, _ = task(0.4, "asym", 40)
    method = make("jocor", labels, 4, UNKNOWN, forget="estimated", ramp=3)
    batch = data.batch(torch.arange(40))
    models = [nn.Sequential(nn.Flatten(), nn.Linear(4, 4)) for _ in range(2)]
    images = batch.x.clone().requires_grad_()
    losses, log = method.loss(models, Batch(images, batch.y, batch.index), Step(0, 9))
    assert isinstance(losses, list)
    for number, loss in enumerate(losses):
        (gradient,) = torch.autograd.grad(loss, images, retain_graph=True)
        assert gradient.flatten(1).norm(dim=1).nonzero()[:, 0].tolist() == list(range(number, 40, 2))
        assert log["selected"][number].nonzero()[:, 0].tolist() == list(range(number, 40, 2))  # type: ignore[index]


def test_without_a_warm_up_there_is_no_estimate() -> None:
    with pytest.raises(WarlabError, match="set `ramp` to 1 or more"):
        make("coteaching", torch.zeros(4, dtype=torch.long), 2, forget="estimated", ramp=0)


def test_samples_that_have_no_order_are_refused_before_the_first_epoch() -> None:
    class Patches:
        def ordered_batches(self) -> Any:
            raise WarlabError("images only")

    method = make("coteaching", torch.zeros(4, dtype=torch.long), 2, forget="estimated", ramp=5)
    with pytest.raises(WarlabError, match="images only"):
        method.on_epoch_start([], Step(0, 9), Patches())  # type: ignore[arg-type]


def test_a_run_with_other_true_labels_estimates_and_learns_the_same(tmp_path: Path) -> None:
    run = resolved("coteaching", epochs=4)
    run["method"]["settings"] |= {"forget": "estimated", "ramp": 2}
    said = logged()
    for folder, clean in (("one", None), ("two", np.arange(64) % CLASSES)):
        (tmp_path / folder).mkdir()
        files = write_files(tmp_path / folder, noise="sym-30", clean=clean)
        run_training(run, files, tmp_path / folder / "run")
    rates = [line for line in said if "estimated share" in line]
    assert len(rates) == 2 and rates[0] == rates[1]
    for one, two in zip(weights(tmp_path / "one/run"), weights(tmp_path / "two/run"), strict=True):
        assert all(torch.equal(one[key], two[key]) for key in one)
    assert read_json(tmp_path / "one/run/result.json")["run"]["method"]["settings"]["forget"] == "estimated"
