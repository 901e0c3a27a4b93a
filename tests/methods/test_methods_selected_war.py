"""WAR on all samples with cross entropy on trusted labels: what is trusted, and what the other samples still do."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.helpers.on_logits import LATER, evaluate, fit, make, some_logits
from tests.methods.test_noise_rate import task
from warlab.methods._selected_war import keep_smallest
from warlab.methods.base import Batch, Step, add_gradients
from warlab.methods.war_select import right_shares
from warlab.methods.war_unlabelled import margin


def of(name: str, y: Tensor, classes: int, **settings: Any) -> Any:
    return make(name, y, classes, {"cost": 0.4 * (1 - torch.eye(classes))}, **settings)


def test_the_smallest_values_of_each_class_are_kept() -> None:
    values, y = torch.tensor([3.0, 1, 2, 9, 8, 7, 5]), torch.tensor([0, 0, 0, 1, 1, 1, 2])
    kept = keep_smallest(values, y, torch.tensor([2 / 3, 1 / 3, 0.0, 1.0]))
    assert kept.tolist() == [False, True, True, False, False, True, True]


def test_the_share_of_right_labels_of_a_class_is_that_of_sure_predictions_that_agree() -> None:
    """0.4 of class 0 is labelled 1: all labels 0 are right, and 1 / 1.4 of the labels 1."""
    truth = torch.arange(3000) % 3
    y = torch.where((truth == 0) & (torch.arange(3000) // 3 % 10 < 4), 1, truth)
    shares = right_shares(0.01 + 0.97 * torch.eye(3)[truth], y)
    torch.testing.assert_close(shares, torch.tensor([1, 1 / 1.4, 1]).double(), atol=0.03, rtol=0)


@pytest.mark.parametrize("name", ["war_select", "war_unlabelled"])
def test_a_sample_without_a_label_has_no_cross_entropy_and_still_war(name: str) -> None:
    logits, y = some_logits()
    method = of(name, y, 5, beta=0.0)
    method.kept[:6] = False
    value, gradient, log = evaluate(method, logits, y, LATER)
    assert log["selected"].tolist() == [[False] * 6 + [True] * 6] and float(log["kept"]) == 0.5
    assert value == pytest.approx(float(torch.nn.functional.cross_entropy(logits[6:], y[6:])), rel=1e-5)
    assert gradient[:6].abs().max() == 0 and gradient[6:].abs().max() > 0
    changes = []
    for beta in (0.0, 10.0):
        torch.manual_seed(0)
        method, model = of(name, y, 5, beta=beta, epsilon=0.5), nn.Linear(5, 5)
        method.kept[:] = False
        add_gradients(method, [model], Batch(logits, y, torch.arange(12)), LATER)
        changes.append(0.0 if model.weight.grad is None else float(model.weight.grad.abs().max()))
    assert changes[0] == 0 and changes[1] > 0


@pytest.mark.parametrize("name", ["war_select", "war_unlabelled"])
@pytest.mark.parametrize("kind", ["asym", "sym"])
def test_wrong_labels_are_left_out(name: str, kind: str) -> None:
    """Of the labels that are kept, less than half as large a share is wrong as of all; each class keeps some."""
    data, y, wrong = task(0.4, kind)
    truth = (data.images.pixels.flatten(1)).argmax(1)  # the clusters are told apart by their brightest pixel
    facts = {"cost": 0.4 * (1 - torch.eye(4)), "realised_rate": wrong}
    method = fit(make(name, y, 4, facts, begin=5), data, 8)
    kept = method.kept
    assert (truth != y)[kept].float().mean() < (truth != y).float().mean() / 2
    assert 1 - wrong - 0.12 < kept.float().mean() < 1 - wrong + 0.12
    assert all(kept[y == label].any() for label in range(4))


def test_until_it_begins_war_select_learns_from_even_samples_only() -> None:
    logits, y = some_logits()
    method = of("war_select", y, 5, begin=5)
    method.on_epoch_start([], Step(0, 60), None)
    _, gradient, _ = evaluate(method, logits, y, Step(0, 60))
    assert gradient[1::2].abs().max() == 0 and (gradient[::2].abs().sum(1) > 0).all()


def test_the_margin_is_that_of_the_label_over_the_best_other_class() -> None:
    logits = torch.tensor([[1.0, 4, 2], [1, 4, 2], [3, 3, 0]])
    assert margin(logits, torch.tensor([1, 2, 0])).tolist() == [2, -2, 0]
