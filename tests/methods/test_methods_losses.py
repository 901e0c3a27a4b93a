"""What methods with a robust loss add to it; tests/losses/test_robust.py has the losses."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from tests.conftest import logged
from tests.helpers.on_logits import evaluate, make
from warlab import methods
from warlab.errors import WarlabError
from warlab.losses import ScoreNorm, backward


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
