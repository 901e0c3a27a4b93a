"""The contract, for every method that is registered: a new file in methods/ is tested by being there."""

from pathlib import Path

import numpy as np
import pytest
import torch

from tests.helpers.runs import (
    CLASSES,
    assert_same,
    make_trainer,
    method_ids,
    resolved,
    run_training,
    study,
    weights,
    write_files,
)
from warlab import methods
from warlab.engine.checkpoint import StopRequest
from warlab.engine.train import Trainer
from warlab.errors import WarlabError
from warlab.methods.base import Step

METHODS = method_ids()


def train(method_id: str, folder: Path, out: str = "out", **options: object) -> Path:
    files = write_files(folder, noise=str(options.pop("noise", "clean")), clean=options.pop("clean", None))  # type: ignore[arg-type]
    run_training(resolved(method_id, **options), files, folder / out)  # type: ignore[arg-type]
    return folder / out


def trainer_of(method_id: str, folder: Path, noise: str = "clean", **settings: object) -> Trainer:
    files = write_files(folder, noise=noise)
    return make_trainer(resolved(method_id, **settings), files, folder / "run")  # type: ignore[arg-type]


@pytest.mark.parametrize("method_id", METHODS)
def test_overfits_64_clean_images(method_id: str, tmp_path: Path) -> None:
    """In 16 epochs at most, and in the last phase of a method that has several."""
    trainer = trainer_of(method_id, tmp_path, epochs=16)
    with StopRequest() as stop:
        while len(trainer.rows) < 16:
            trainer._epoch(stop)
            if len(trainer.rows) > 10 and trainer.rows[-1]["test_accuracy"] > 90:
                return
    raise AssertionError(trainer.rows[-1])


@pytest.mark.parametrize("method_id", METHODS)
def test_gradients_are_finite_in_every_phase_and_odd_batch(method_id: str, tmp_path: Path) -> None:
    """A usual batch, one of a single label, and one of a single sample, of which two fifths are none."""
    trainer = trainer_of(method_id, tmp_path, "sym-40")
    one_label = (trainer.data.labels == 0).nonzero()[:9, 0]
    for epoch in range(3):
        trainer._begin(Step(epoch, 3))
        for index in (trainer.data.epoch(epoch)[0], one_label, one_label[:1]):
            loss, _ = trainer._step(Step(epoch, 3), index)
            gradients = [p.grad for model in trainer.models for p in model.parameters() if p.grad is not None]
            assert torch.isfinite(loss) and gradients and all(torch.isfinite(g).all() for g in gradients)


@pytest.mark.parametrize("method_id", METHODS)
def test_same_seed_same_bits_whatever_the_clean_labels(method_id: str, tmp_path: Path) -> None:
    """Two runs that differ in the clean training labels: these decide purity and memorised share alone."""
    garbage = np.random.default_rng(0).integers(0, CLASSES, 64)
    honest = train(method_id, tmp_path, "honest", noise="sym-40")
    assert_same(honest, train(method_id, tmp_path, "garbage", noise="sym-40", clean=garbage), "purity", "memorised")


@pytest.mark.parametrize("method_id", [m for m in METHODS if "warmup" in study().settings.method(m, "fashion_mnist")])
def test_without_its_weight_a_regulariser_is_cce(method_id: str, tmp_path: Path) -> None:
    cce = train("cce", tmp_path, "cce")
    assert_same(cce, train(method_id, tmp_path, "beta0", beta=0.0))
    assert_same(cce, train(method_id, tmp_path, "warmup", warmup=3))
    changed = weights(train(method_id, tmp_path, "on"))[0]
    assert any(not torch.equal(v, changed[k]) for k, v in weights(cce)[0].items())


@pytest.mark.parametrize("name", methods.names())
def test_settings_read_without_an_import_are_those_of_the_imported_config(name: str) -> None:
    """A number stands once, in the method's file; the workflow reads it from the syntax tree."""
    module = methods.METHODS.load(name)
    defaults = vars(module.Config()) if hasattr(module, "Config") else {}
    assert {key: one.value for key, one in methods.declaration(name).settings.items()} == defaults
    assert {key: one.value for key, one in study().numbers.methods[name].items()} == defaults


@pytest.mark.parametrize("name", methods.names())
def test_every_file_opens_with_its_formula(name: str) -> None:
    opening = methods.METHODS.file(name).read_text().split('"""')[1]
    assert "    " in opening and len(opening.splitlines()) >= 3, "give the docstring a line with an indented formula"


def test_unknown_method_and_setting_are_one_sentence() -> None:
    with pytest.raises(WarlabError, match=r"no method 'ccee'.*did you mean 'cce'"):
        methods.declaration("ccee")
    with pytest.raises(WarlabError, match="Method ar has no setting 'gamma'; it has: beta"):
        methods.make("ar", {"gamma": 1}, None)  # type: ignore[arg-type]
