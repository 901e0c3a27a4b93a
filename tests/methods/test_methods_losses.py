"""Losses with one network and no memory: known values, limits in which they are CCE, and extreme logits."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tests.conftest import logged
from tests.helpers.on_logits import evaluate, make, some_logits
from warlab import methods
from warlab.errors import WarlabError
from warlab.losses import ScoreNorm, backward
from warlab.methods.base import Method

SURE = torch.eye(5, dtype=torch.float64).repeat(8, 1)  # predictions whose estimated transition matrix is the identity


def corrected(name: str, y: Tensor, matrix: np.ndarray) -> Method:
    """Forward or Backward with this transition matrix."""
    predictions = torch.from_numpy(matrix).repeat(8, 1)
    return make(name, y, len(matrix), {"predictions": predictions}, percentile=None)


@pytest.mark.parametrize(
    ("name", "settings", "tolerance"),
    [
        ("forward", {}, 1e-6),
        ("backward", {}, 1e-6),
        ("bootsoft", {"b": 1.0}, 1e-6),
        ("sl", {"a": 1.0, "b": 0.0}, 1e-7),
        ("gce", {"q": 1e-4}, 2e-3),
    ],
)
def test_limits_in_which_a_loss_is_cce(name: str, settings: dict[str, float], tolerance: float) -> None:
    """Value and gradient."""
    logits, y = some_logits()
    value, gradient, _ = evaluate(make(name, y, 5, {"predictions": SURE}, **settings), logits, y)
    expected, expected_gradient, _ = evaluate(make("cce", y, 5), logits, y)
    assert value == pytest.approx(expected, rel=tolerance)
    torch.testing.assert_close(gradient, expected_gradient, rtol=tolerance, atol=1e-6)


@pytest.mark.parametrize("name", ["forward", "backward", "bootsoft", "sl", "gce"])
def test_without_the_limit_it_is_not_cce(name: str) -> None:
    logits, y = some_logits()
    noise = 0.7 * np.eye(5) + 0.3 * np.roll(np.eye(5), 1, 1)
    method = corrected(name, y, noise) if name in ("forward", "backward") else make(name, y, 5)
    assert abs(evaluate(method, logits, y)[0] - evaluate(make("cce", y, 5), logits, y)[0]) > 0.01


def test_known_values_of_a_single_sample() -> None:
    """p = (0.5, 0.3, 0.2), label 1, computed by hand."""
    p, y = torch.tensor([[0.5, 0.3, 0.2]]), torch.tensor([1])
    noise = np.array([[0.6, 0.4, 0.0], [0.0, 0.8, 0.2], [0.0, 0.1, 0.9]])
    inverse = np.linalg.inv(noise)[1]
    expected = {
        "forward": -math.log(0.5 * 0.4 + 0.3 * 0.8 + 0.2 * 0.1),
        "backward": -float(inverse @ np.log([0.5, 0.3, 0.2])),
        "bootsoft": -(0.025 * math.log(0.5) + 0.965 * math.log(0.3) + 0.01 * math.log(0.2)),
        "sl": 0.1 * -math.log(0.3) + 9.2103404 * 0.7,
        "gce": (1 - 0.3**0.7) / 0.7,
    }
    for name, value in expected.items():
        method = corrected(name, y, noise) if name in ("forward", "backward") else make(name, y, 3)
        assert evaluate(method, p.log(), y)[0] == pytest.approx(value, rel=1e-5), name


def test_unhinged_is_linear_in_the_score_of_the_label() -> None:
    logits, y = some_logits()
    method = make("unhinged", y, 5)
    value, gradient, _ = evaluate(method, logits, y)
    assert value == pytest.approx(1 - float(logits[torch.arange(12), y].mean()) / 5)
    assert torch.equal(gradient != 0, torch.nn.functional.one_hot(y, 5).bool())


def test_unhinged_trains_and_keeps_its_batch_norm() -> None:
    """Its parameters and running statistics are part of the network: trained, saved and used in evaluation."""
    model = make("unhinged", torch.zeros(1, dtype=torch.long), 5).extend(nn.Linear(3, 5))
    assert {"1.weight", "1.bias", "1.running_mean", "1.running_var"} <= set(model.state_dict())
    x = 1 + torch.randn(64, 3, generator=torch.Generator().manual_seed(0))
    scores = model(x)
    assert scores.mean(0).abs().max() < 1e-5 and (scores.std(0) - 1).abs().max() < 0.1
    before = model[1].running_mean.clone()  # type: ignore[index,union-attr,operator]
    model.eval()(x)
    assert torch.equal(before, model[1].running_mean) and before.abs().max() > 0  # type: ignore[index,arg-type]


def test_one_sample_passes_the_batch_norm_by_its_running_statistics() -> None:
    norm = ScoreNorm(3)
    norm(torch.randn(50, 3) * 4 + 2)
    one = torch.randn(1, 3)
    trained = norm(one)
    assert torch.allclose(trained, norm.eval()(one)) and trained.requires_grad


@pytest.mark.parametrize("name", ["forward", "backward", "bootsoft", "sl", "gce", "unhinged"])
def test_extreme_logits_have_finite_losses_and_gradients(name: str) -> None:
    logits = torch.tensor([[200.0, 0, 0], [-200, 0, 0], [0, 0, 0], [1e-3, 300, -300]])
    y = torch.tensor([1, 0, 2, 2])
    value, gradient, _ = evaluate(make(name, y, 3, {"predictions": torch.eye(3).double()}), logits, y)
    assert math.isfinite(value) and torch.isfinite(gradient).all()


def test_backward_takes_the_pseudo_inverse_of_a_singular_matrix_and_says_so() -> None:
    said = logged()
    singular = np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    inverse = backward.inverse(singular)
    np.testing.assert_allclose(inverse, np.linalg.pinv(singular), atol=1e-12)
    assert "nearly singular" in said[0]
    said.clear()
    np.testing.assert_allclose(backward.inverse(np.eye(3)), np.eye(3))
    assert said == []


def test_a_truncated_sample_has_neither_loss_nor_gradient() -> None:
    y = torch.tensor([0, 0, 1])
    logits = torch.tensor([[2.0, 0], [-2, 0], [0, 1]])
    method = make("gce", y, 2, form="truncated")
    method.load_state_dict({"kept": torch.tensor([True, False, True])})
    value, gradient, log = evaluate(method, logits, y)
    p = torch.tensor([1 / (1 + math.exp(-2)), 1 / (1 + math.exp(-1))])
    limit = (1 - 0.5**0.7) / 0.7
    assert value == pytest.approx(float(((1 - p**0.7) / 0.7 - limit).sum() / 3), rel=1e-5)
    assert gradient[1].abs().sum() == 0 and gradient[0].abs().sum() > 0
    assert log["selected"].tolist() == [[True, False, True]]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("gce", {"form": "cut"}),
        ("coteaching_plus", {"reading": "mine"}),
        ("pencil", {"last_stage": "zero"}),
        ("jocor", {"forget": "half"}),
    ],
)
def test_a_setting_that_does_not_exist_is_one_sentence(name: str, setting: dict[str, str]) -> None:
    with pytest.raises(
        WarlabError,
        match=next(iter(setting.values())) if name != "pencil" else "last_stage is .zero.; it must be shared",
    ):
        make(name, torch.zeros(4, dtype=torch.long), 2, **setting)


@pytest.mark.parametrize("name", ["forward", "backward"])
def test_without_predictions_it_says_what_is_missing(name: str) -> None:
    assert methods.declaration(name).needs_run == ("transition", {"validation": "cce_early", "last": "cce"})
    with pytest.raises(WarlabError, match="CCE run of the same cell"):
        make(name, torch.zeros(4, dtype=torch.long), 2)
