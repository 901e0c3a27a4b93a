"""What an evaluation measures, with networks whose predictions are known."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.helpers import runs
from tests.helpers.runs import make_trainer
from tests.helpers.tiles import tile_run, write_tile_files
from warlab.common.files import read_arrays
from warlab.engine import images
from warlab.engine.build import training_part


def constant(label: int, classes: int) -> Any:
    """Two networks: one always predicts `label`, the other one the class after it; both are sure by a logit of 3."""
    return lambda models, x: torch.stack(
        [3 * torch.eye(classes)[k].expand(len(x), classes) for k in (label, label + 1)]
    )


def test_measures_of_networks_that_predict_one_class(tmp_path: Path) -> None:
    """Their accuracies are shares of two classes, the recall of these is one half, and so on."""
    files = replace(runs.write_files(tmp_path, n=64, noise="sym-40"), predictions=None)
    run = runs.resolved("cce")
    run["training"]["validation"] = 0.25
    built = make_trainer(run, files, tmp_path)
    built.method.predict = constant(1, 4)  # type: ignore[method-assign]
    found = built.evaluate(built.method, built.models)

    part, noisy = training_part(64, 0.25, 0), read_arrays(files.noise)["labels"]
    true, test = (read_arrays(files.data)[name] for name in ("train_y", "test_y"))
    held = noisy[np.setdiff1d(np.arange(64), part)]
    wrong = noisy[part][noisy[part] != true[part]]
    assert found["test_accuracy"] == pytest.approx(50 * np.isin(test, (1, 2)).mean())
    assert [found[f"recall_{k}"] for k in range(4)] == [0, 50, 50, 0]
    assert found["validation_accuracy"] == pytest.approx(50 * np.isin(held, (1, 2)).mean())
    total = np.log(3 + np.exp(3))
    assert found["validation_loss"] == pytest.approx(total - 1.5 * np.isin(held, (1, 2)).mean(), rel=1e-6)
    assert len(wrong) > 5 and found["memorised"] == pytest.approx(50 * np.isin(wrong, (1, 2)).mean())


def test_memorisation_is_measured_on_a_fixed_part_of_the_wrong_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(images, "MOST_WRONG", 5)
    files = runs.write_files(tmp_path, n=64, noise="sym-40")
    built, again = (make_trainer(runs.resolved("cce"), files, tmp_path) for _ in range(2))
    (index,), (same,) = built.evaluate.wrong.batches, again.evaluate.wrong.batches  # type: ignore[attr-defined]
    assert len(index) == 5 and torch.equal(index, same)
    true, noisy = read_arrays(files.data)["train_y"], read_arrays(files.noise)["labels"]
    assert (true[index] != noisy[index]).all()


def test_without_wrong_labels_nothing_is_memorised(tmp_path: Path) -> None:
    built = make_trainer(runs.resolved("cce"), runs.write_files(tmp_path), tmp_path)
    assert "memorised" not in built.evaluate(built.method, built.models)


def test_measures_of_pixels(tmp_path: Path) -> None:
    """Predictions of impervious surfaces and of buildings everywhere."""
    files = write_tile_files(tmp_path)
    built = make_trainer(tile_run("cce"), files, tmp_path)
    built.method.predict = lambda models, x: constant(0, 6)(models, x.movedim(1, 3).reshape(-1, 5))  # type: ignore[method-assign]
    found = built.evaluate(built.method, built.models)
    assert found["recall_0"] == found["recall_1"] == 50 and found["recall_2"] == 0
    true, noisy = read_arrays(files.data)["train_y"], read_arrays(files.noise)["labels"]

    def share(index: Tensor) -> float:
        seen = built.data.batch(index).index
        wrong = seen[true[seen] != noisy[seen]]
        return 50 * float(np.isin(noisy[wrong], (0, 1)).mean())

    (patches,) = [torch.cat(list(built.evaluate.wrong.batches))]  # type: ignore[attr-defined]
    assert share(patches) > 0 and found["memorised"] == pytest.approx(share(patches))
