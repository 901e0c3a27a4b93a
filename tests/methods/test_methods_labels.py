"""PENCIL and JOF, which change the labels: what they start from, how they move, and that they find the truth."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from tests.helpers.on_logits import evaluate, fit, make, some_logits
from tests.helpers.runs import make_trainer, resolved, write_files
from warlab.engine.checkpoint import StopRequest
from warlab.engine.images import Images, TrainingData
from warlab.engine.train import Schedule
from warlab.methods.base import Samples, Step

SHARED = Schedule(60, 1e-3, (20, 40)).rate


class NoSamples:
    def __len__(self) -> int:
        return 0


def toy(flipped: float = 0.3, n: int = 600) -> tuple[TrainingData, Tensor, Tensor]:
    """Three separable clusters as 2x2 images, a share of the labels wrong: data, true and noisy labels."""
    rng = np.random.default_rng(0)
    truth = np.arange(n) % 3
    centres = np.array([[200, 60, 60, 60], [60, 200, 60, 60], [60, 60, 200, 60]])
    pixels = np.clip(centres[truth] + rng.normal(0, 12, (n, 4)), 0, 255).astype(np.uint8).reshape(n, 1, 2, 2)
    noisy = np.where(rng.random(n) < flipped, (truth + 1) % 3, truth)
    images = Images(pixels, [0.4], [0.2], torch.device("cpu"))
    return TrainingData(images, torch.from_numpy(noisy), 60, 0), torch.from_numpy(truth), torch.from_numpy(noisy)


# ---- PENCIL


def test_pencil_starts_from_labels_that_are_almost_certain() -> None:
    y = torch.arange(10)
    table = make("pencil", y, 10).state_dict()["table"]
    expected = math.exp(10) / (math.exp(10) + 9)
    assert expected == pytest.approx(0.9996, abs=1e-4)
    assert table.softmax(1)[torch.arange(10), y].tolist() == pytest.approx([expected] * 10, rel=1e-6)


def test_pencil_stages_by_their_formulas() -> None:
    logits, y = some_logits()
    method = make("pencil", y, 5, stage2=2, stage3=4, alpha=0.4, beta=0.1, lam=0.0, compatibility="fixed")
    assert evaluate(method, logits, y, Step(1, 6))[0] == pytest.approx(float(cross_entropy(logits, y)))
    yd = method.state_dict()["table"].double().softmax(1)
    p = logits.double().softmax(1)
    classification = (p * (p / yd).log()).sum(1).mean() / 5
    compatibility = -yd[torch.arange(12), y].log().mean()
    entropy = -(p * p.log()).sum(1).mean() / 5
    assert evaluate(method, logits, y, Step(2, 6))[0] == pytest.approx(
        float(classification + 0.4 * compatibility + 0.1 * entropy), rel=1e-5
    )
    assert evaluate(method, logits, y, Step(4, 6))[0] == pytest.approx(float(classification), rel=1e-5)


def test_pencil_moves_its_labels_in_stage_two_alone_by_lam_times_the_gradient() -> None:
    """In logits, the gradient of KL(p || softmax(yt)) is softmax(yt) - p."""
    logits, y = some_logits()
    method = make("pencil", y, 5, stage2=2, stage3=4, alpha=0.5, lam=300.0, compatibility="fixed")
    before = method.state_dict()["table"].clone()
    for epoch in (1, 4):
        evaluate(method, logits, y, Step(epoch, 6))
        assert torch.equal(method.state_dict()["table"], before)
    evaluate(method, logits, y, Step(2, 6))
    yd, given = before.softmax(1), torch.nn.functional.one_hot(y, 5)
    gradient = (yd - logits.softmax(1)) / 5 + 0.5 * (yd - given)
    torch.testing.assert_close(method.state_dict()["table"], before - 300 / 128 * gradient)


def test_pencil_with_the_published_double_softmax() -> None:
    logits, y = some_logits()
    fixed, code = (make("pencil", y, 5, stage2=0, stage3=9, lam=0.0, compatibility=name) for name in ("fixed", "code"))
    yd = fixed.state_dict()["table"].softmax(1)
    difference = evaluate(code, logits, y, Step(1, 9))[0] - evaluate(fixed, logits, y, Step(1, 9))[0]
    once, twice = -yd[torch.arange(12), y].log().mean(), cross_entropy(yd, y)
    assert difference == pytest.approx(float(0.1 * (twice - once)), rel=1e-4)


def test_pencil_learning_rates_of_the_last_stage() -> None:
    y = torch.zeros(4, dtype=torch.long)
    epochs = (0, 30, 38, 45, 46, 53, 59)
    rates = {
        name: [make("pencil", y, 2, stage2=13, stage3=38, last_stage=name).lr(Step(e, 60), SHARED) for e in epochs]
        for name in ("shared", "thirds", "restart", "code")
    }
    assert rates["restart"] == pytest.approx([1e-3, 1e-4, 1e-3, 1e-3, 1e-4, 1e-5, 1e-5])
    assert rates["shared"] == pytest.approx([1e-3, 1e-4, 1e-4, 1e-5, 1e-5, 1e-5, 1e-5])
    assert rates["thirds"] == pytest.approx([1e-3, 1e-4, 1e-4, 1e-4, 1e-5, 1e-6, 1e-6])
    assert rates["code"] == pytest.approx([1e-3, 1e-4, 1e-4, 1e-4, 0, 0, 0])


def test_with_one_softmax_a_wrong_label_keeps_its_share_and_with_two_it_goes() -> None:
    """The network is certain of class 1, the label says 0: where the label distribution comes to rest."""
    y, sure = torch.zeros(1, dtype=torch.long), torch.tensor([[0.0, 30.0, 0, 0, 0, 0, 0, 0, 0, 0]])
    rest = {}
    for reading in ("fixed", "code"):
        method = make("pencil", y, 10, stage2=0, stage3=9, alpha=0.1, compatibility=reading)
        for _ in range(400):
            evaluate(method, sure, y, Step(1, 9))
        rest[reading] = float(method.state_dict()["table"].softmax(1)[0, 0])
    assert rest["fixed"] == pytest.approx(0.5, abs=0.01) and rest["code"] < 0.125


@pytest.mark.parametrize("compatibility", ["fixed", "code"])
def test_pencil_moves_wrong_labels_back_to_the_truth(compatibility: str) -> None:
    data, truth, noisy = toy()
    settings = {"stage2": 5, "stage3": 30, "lam": 4000.0, "alpha": 0.02, "compatibility": compatibility}
    method = make("pencil", noisy, 3, **settings)
    fit(method, data, 30)
    found = method.state_dict()["table"].argmax(1)
    wrong = noisy != truth
    assert (found == truth)[wrong].float().mean() > 0.9 and (found == truth)[~wrong].float().mean() > 0.97


# ---- JOF


def test_jof_by_its_formula() -> None:
    logits, y = some_logits()
    method = make("jof", y, 5)
    p = logits.double().softmax(1)
    balance, entropy = -p.mean(0).log().mean(), -(p * p.log()).sum(1).mean()
    expected = cross_entropy(logits.double(), y) + 0.8 * balance + 0.4 * entropy
    assert evaluate(method, logits, y, Step(0, 120))[0] == pytest.approx(float(expected), rel=1e-5)
    assert evaluate(method, logits, y, Step(75, 120))[0] == pytest.approx(float(cross_entropy(logits, y)), rel=1e-5)


def test_jof_labels_are_the_mean_of_the_remembered_epochs() -> None:
    y = torch.tensor([0, 1])
    method = make("jof", y, 2, begin=4, memory=3, retrain=6)
    given = torch.eye(2)
    samples: Samples = NoSamples()  # type: ignore[assignment]
    for epoch in range(6):
        method.on_epoch_start([], Step(epoch, 9), samples)
        expected = given if epoch < 4 else torch.tensor([[1 - m, m] for m in [(epoch - 2) / 10] * 2])
        torch.testing.assert_close(method.state_dict()["targets"], expected)
        share = torch.tensor([[1 - epoch / 10, epoch / 10]]).repeat(2, 1)
        evaluate(method, share.clamp_min(1e-9).log(), y, Step(epoch, 9))
    method.on_epoch_start([], Step(6, 9), samples)
    final = method.state_dict()["targets"].clone()
    torch.testing.assert_close(final, torch.tensor([[0.6, 0.4]] * 2))
    method.on_epoch_start([], Step(7, 9), samples)
    assert torch.equal(method.state_dict()["targets"], final) and method.state_dict()["history"].numel() == 0


def test_jof_learning_rates() -> None:
    method = make("jof", torch.zeros(4, dtype=torch.long), 2, begin=13, retrain=39)
    rates = [method.lr(Step(e, 60), SHARED) for e in (0, 25, 38, 39, 45, 46, 53, 59)]
    assert rates == pytest.approx([1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-4, 1e-5, 1e-5])


def test_jof_finds_the_true_labels() -> None:
    data, truth, noisy = toy()
    method = make("jof", noisy, 3, begin=5, memory=5, retrain=30)
    fit(method, data, 31)
    found, wrong = method.state_dict()["targets"].argmax(1), noisy != truth
    assert (found == truth)[wrong].float().mean() > 0.9 and (found == truth)[~wrong].float().mean() > 0.97


def test_jof_restarts_with_a_new_network(tmp_path: Path) -> None:
    """At the boundary the weights are new ones, neither the trained nor the first ones, and Adam has forgotten."""
    files = write_files(tmp_path)
    trainer = make_trainer(resolved("jof", epochs=3), files, tmp_path / "run")
    first = trainer.models[0].state_dict()["head.1.weight"].clone()
    with StopRequest() as stop:
        for _ in range(2):
            trainer._epoch(stop)
    trained = trainer.models[0].state_dict()["head.1.weight"].clone()
    assert trainer.optimisers[0].state
    trainer._begin(Step(2, 3))
    fresh = trainer.models[0].state_dict()["head.1.weight"]
    assert not torch.equal(fresh, trained) and not torch.equal(fresh, first) and not trainer.optimisers[0].state
