"""PENCIL as it is configured: its labels must reach the truth within the epochs that every study gives them."""

import math
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.helpers.on_logits import make
from tests.helpers.studies import study_of
from warlab.config.study import Study
from warlab.ids import RunId
from warlab.methods.base import Batch, Method, Step

CLASSES = {"fashion_mnist": 10, "cifar10": 10, "cifar100": 100, "clothing1m": 14}
GIVEN, TRUE = 0, 1
SURE = 0.98
PAPER = [
    *(
        (dataset, noise, 1.0)
        for dataset in ("fashion_mnist", "cifar10", "cifar100")
        for noise in ("asym-20", "asym-40")
    ),
    *(("cifar100", f"asym_code-{rate}", 1.0) for rate in (20, 40)),
    ("clothing1m", "real", 1.0),
]
CLEAN = [("cifar10", "clean", 1.0), ("cifar100", "clean", 1.0)]
SHORTER = [(dataset, noise, 0.25) for dataset, noise, _ in PAPER[:6]]


@cache
def paper() -> Study:
    return study_of("paper")


def settings_for(dataset: str, noise: str, share: float) -> tuple[dict[str, Any], int]:
    """PENCIL's settings and number of epochs, if a scale trains for a share of the paper's epochs."""
    epochs = round(share * paper().settings.training(dataset, noise, "pencil")["epochs"])
    shorter = replace(paper(), scale={**paper().scale, "training": {dataset: {"epochs": epochs}}})
    run = (paper() if share == 1 else shorter).settings.run(RunId(dataset, noise, "cnn9", "pencil", 0))
    return run.method.settings, run.training["epochs"]


def logits_of(confidence: float, classes: int, of: int) -> Tensor:
    p = torch.full((classes,), (1 - confidence) / (classes - 1))
    p[of] = confidence
    return p.log()


def labels_after_training(dataset: str, noise: str, share: float, logits: Tensor, images: int = 1) -> Tensor:
    """Each image's label distribution at the end, if the network says `logits` of all of them in every epoch."""
    settings, epochs = settings_for(dataset, noise, share)
    y = torch.full((images,), GIVEN)
    method = make("pencil", y, CLASSES[dataset], **settings)
    batch = Batch(logits.repeat(images, 1), y, torch.arange(images))
    for epoch in range(epochs):
        method.loss([nn.Identity()], batch, Step(epoch, epochs))
    return method.state_dict()["table"].softmax(1)


@pytest.mark.parametrize("dataset, noise, share", PAPER + SHORTER)
def test_a_wrong_label_becomes_the_class_that_the_network_is_sure_of(dataset: str, noise: str, share: float) -> None:
    found = labels_after_training(dataset, noise, share, logits_of(SURE, CLASSES[dataset], TRUE))[0]
    assert int(found.argmax()) == TRUE and found[TRUE] > 0.75 and found[GIVEN] < 0.25


@pytest.mark.parametrize("dataset, noise, share", PAPER + SHORTER + CLEAN)
def test_a_right_label_stays(dataset: str, noise: str, share: float) -> None:
    found = labels_after_training(dataset, noise, share, logits_of(SURE, CLASSES[dataset], GIVEN))[0]
    assert int(found.argmax()) == GIVEN and found[GIVEN] > 0.95


def swing(method: Method, logits: Tensor, epochs: int) -> float:
    """How far the share of class 1 in the label distribution moves in the last ten epochs."""
    y, seen = torch.tensor([GIVEN]), []
    for epoch in range(epochs):
        method.loss([nn.Identity()], Batch(logits, y, torch.tensor([0])), Step(epoch, 1000))
        seen.append(method.state_dict()["table"].softmax(1)[0, TRUE].item())
    return max(seen[-10:]) - min(seen[-10:])


@pytest.mark.parametrize("dataset, noise, share", PAPER + SHORTER)
def test_the_settings_of_pencil_let_an_undecided_label_come_to_rest(dataset: str, noise: str, share: float) -> None:
    """Two classes of one half each: where the label distribution changes fastest with every step."""
    settings, _ = settings_for(dataset, noise, share)
    undecided = torch.full((1, CLASSES[dataset]), -30.0)
    undecided[0, [TRUE, 2]] = math.log(0.5)
    method = make("pencil", torch.tensor([GIVEN]), CLASSES[dataset], **{**settings, "stage2": 0, "stage3": 1000})
    assert swing(method, undecided, 400) < 1e-3


def test_a_longer_step_than_the_bound_would_not_come_to_rest() -> None:
    method = make(
        "pencil", torch.tensor([GIVEN]), 3, alpha=0.0, lam=128 * 3 * 4.5, longest=100.0, stage2=0, stage3=1000
    )
    method.state_dict()["table"].copy_(torch.tensor([[-30.0, 0.3, 0.0]]))
    assert swing(method, torch.tensor([[-30.0, 0.0, 0.0]]), 200) > 0.3


def test_the_size_of_a_batch_does_not_change_a_label() -> None:
    logits = logits_of(SURE, 10, TRUE)
    alone, small, large = (labels_after_training("cifar10", "asym-40", 1.0, logits, n) for n in (1, 16, 256))
    torch.testing.assert_close(small, alone.expand(16, 10))
    torch.testing.assert_close(large, alone.expand(256, 10))


def test_label_steps_grow_as_their_epochs_become_fewer() -> None:
    """130 steps with λ 400 (Fashion-MNIST) and 600 (CIFAR-10) in the sources; CIFAR-100 has ten times the classes."""
    for dataset, source in (("fashion_mnist", 400), ("cifar10", 600), ("cifar100", 6000)):
        settings, _ = settings_for(dataset, "asym-20", 1.0)
        steps = settings["stage3"] - settings["stage2"]
        assert settings["lam"] * steps == pytest.approx(source * 130, rel=0.01)
        half, _ = settings_for(dataset, "asym-20", 0.5)
        assert half["lam"] == pytest.approx(2 * settings["lam"])
