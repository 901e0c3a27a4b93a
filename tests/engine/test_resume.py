"""The contract of resuming, for every method that is registered and every phase of its schedule: a run that ends in
each of its epochs goes on where it ended, takes every step once, and comes to the same bits.

A run that starts again from epoch 0 comes to the same bits as well, so that these alone would show nothing.
"""

from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.conftest import logged
from tests.helpers.runs import make_trainer, method_ids, resolved, study, write_files
from warlab.engine.build import RunFiles
from warlab.engine.checkpoint import StopRequest
from warlab.engine.train import TIMES, Row, Trainer
from warlab.errors import Interrupted

EPOCHS, FEWER, BATCHES = 12, 4, 2  # fewer epochs for methods without phases: one for each way to end, and the last
Place = tuple[int, int]  # epoch and batch
RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, {}) for name in method_ids()},
    "war with a smaller epsilon later": ("war_w2v", {"epsilon_rule": "always"}),
    "cce by sgd": ("cce", {}),
    "gjs with two views": ("gjs", {}),
    "cce that ends with its best epoch": ("cce", {}),
    "coteaching with a validation": ("coteaching", {}),
    "cce with dropout in a network of torchvision": ("cce", {}),
}
TRAINING: dict[str, dict[str, Any]] = {
    "cce by sgd": {"optimiser": "sgd", "momentum": 0.9, "lr": 0.05, "drops": [1, 3]},
    "gjs with two views": {"augmentation": "two_views"},
    "cce that ends with its best epoch": {"validation": 0.25, "keep": "best_validation", "lr": 0.03},
    "coteaching with a validation": {"validation": 0.25},
}


def run_of(name: str) -> dict[str, Any]:
    method, settings = RUNS[name]
    run = resolved(method, epochs=EPOCHS, batch_size=32, **settings)
    if not changes(run):
        run = resolved(method, epochs=FEWER, batch_size=32, **settings)
    run["training"] |= TRAINING.get(name, {})
    if name == "cce with dropout in a network of torchvision":
        run["net"] = {"name": "torchvision.mobilenet_v3_small", "settings": {}}
    return run


class Killed(Exception):
    """The process ends abruptly."""


class Part:
    """One process of a run: what it logs, which steps it takes, and where it is made to end."""

    def __init__(self, run: dict[str, Any], files: RunFiles, out: Path) -> None:
        self.said = logged("warlab.engine")
        self.steps: list[Place] = []
        self.stop = StopRequest()
        self.trainer: Trainer = make_trainer(run, files, out)
        self.trainer.on_epoch = lambda rows: None
        before(self.trainer, "_step", lambda step, _: self.steps.append((step.epoch, step.batch)))

    def stop_at(self, place: object, name: str, epoch: int) -> None:
        """Ask for a stop as soon as this function is called in this epoch."""

        def ask(*_: object) -> None:
            if len(self.trainer.rows) == epoch:
                self.stop.received = "SIGTERM"

        before(place, name, ask)

    def kill_after(self, epoch: int) -> None:
        def kill(rows: list[Row]) -> None:
            if len(rows) == epoch + 1:
                raise Killed

        self.trainer.on_epoch = kill

    def fit(self) -> None:
        self.trainer.fit(self.stop)


def before(place: Any, name: str, action: Callable[..., object]) -> None:
    """Call `action` before a function of this object."""
    original = getattr(place, name)

    def call(*given: Any) -> Any:
        action(*given)
        return original(*given)

    setattr(place, name, call)


Way = tuple[Callable[[Part, int], None], Callable[[int], Place]]
WAYS: dict[str, Way] = {  # how a run ends in an epoch, and the epoch (from 1) and batch from which it goes on
    "after a batch": (lambda part, epoch: part.stop_at(part.trainer, "_step", epoch), lambda e: (e + 1, 1)),
    "in the evaluation": (
        lambda part, epoch: part.stop_at(part.trainer.method, "predict", epoch),
        lambda e: (e + 1, BATCHES),
    ),
    "killed after the epoch": (Part.kill_after, lambda e: (e + 2, 0)),
}


def changes(run: dict[str, Any]) -> set[int]:
    """Epochs in which a phase of the method may begin: what its settings count in epochs, one after the other too;
    D2L also waits for a window of estimates."""
    settings = run["method"]["settings"]
    numbers = study().numbers.methods[run["method"]["file"]]
    waits = [settings[key] for key, entry in numbers.items() if entry.unit == "epochs" or key == "window"]
    return {*waits, *(a + b for a, b in combinations(waits, 2))}


def ends(run: dict[str, Any]) -> Iterator[tuple[int, str]]:
    """In every epoch one way to end, and all of them before and after a phase of the method begins."""
    for epoch in range(run["training"]["epochs"] - 1):
        near = {epoch, epoch + 1} & changes(run)
        for way in WAYS if near else [list(WAYS)[epoch % len(WAYS)]]:
            yield epoch, way


def calm(run: dict[str, Any], files: RunFiles, out: Path) -> Part:
    part = Part(run, files, out)
    part.fit()
    return part


@pytest.mark.parametrize("name", RUNS)
def test_ended_in_every_epoch_it_goes_on_there_and_comes_to_the_same_bits(name: str, tmp_path: Path) -> None:
    run, files = run_of(name), write_files(tmp_path, noise="sym-40")
    whole = calm(run, files, tmp_path / "calm")
    steps: list[Place] = []
    expected: list[str] = []
    for epoch, way in ends(run):
        part = Part(run, files, tmp_path / "parts")
        arrange, place = WAYS[way]
        arrange(part, epoch)
        with pytest.raises((Killed, Interrupted)):
            part.fit()
        assert part.said == expected, f"before it ended {way} in epoch {epoch + 1}"
        steps += part.steps
        expected = ["resumed from epoch {}, batch {}".format(*place(epoch))]
    last = calm(run, files, tmp_path / "parts")
    assert last.said == expected
    epochs = run["training"]["epochs"]
    assert steps + last.steps == whole.steps == [(e, b) for e in range(epochs) for b in range(BATCHES)]
    assert_same_bits(whole.trainer, last.trainer)


def assert_same_bits(one: Trainer, two: Trainer) -> None:
    for a, b in zip(one.models, two.models, strict=True):
        assert all(torch.equal(value, b.state_dict()[key]) for key, value in a.state_dict().items())
    untimed = dict.fromkeys(TIMES, 0)
    assert [{**row, **untimed} for row in one.rows] == [{**row, **untimed} for row in two.rows]
    recorded = [vars(trainer.recorder.audit.means()) for trainer in (one, two)]
    assert all(np.array_equal(values, recorded[1][name], equal_nan=True) for name, values in recorded[0].items())


@pytest.mark.parametrize("name", RUNS)
def test_every_phase_of_a_method_begins_within_the_contract(name: str) -> None:
    numbers = study().numbers.methods[run_of(name)["method"]["file"]]
    found = changes(run_of(name))
    assert bool(found) == any(entry.unit == "epochs" for entry in numbers.values())
    assert not found or min(found) < EPOCHS - 1
    if name == "d2l":
        assert max(found) < EPOCHS - 1, "its labels are changed after init_epoch and a window"


@pytest.mark.parametrize("method_id", ["d2l", "gce_truncated", "iterative"])
def test_stopped_while_an_epoch_is_prepared_it_prepares_it_again(method_id: str, tmp_path: Path) -> None:
    """Some methods look at all samples before an epoch, which takes long: the state of the last epoch is saved."""
    run, files = run_of(method_id), write_files(tmp_path, noise="sym-40")
    whole, early = calm(run, files, tmp_path / "calm"), 0
    for epoch in range(1, EPOCHS):
        part = Part(run, files, tmp_path / "parts")
        part.stop_at(part.trainer, "_begin", epoch)
        with pytest.raises(Interrupted, match=f"SIGTERM received: saved epoch {epoch + 1}, batch [01]") as stop:
            part.fit()
        early += "batch 0" in str(stop.value)
    last = calm(run, files, tmp_path / "parts")
    assert early > 0 and last.said
    assert_same_bits(whole.trainer, last.trainer)
