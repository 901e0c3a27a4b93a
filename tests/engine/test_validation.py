"""A noisy validation split: not trained on, evaluated by its noisy labels, and absent with a share of 0."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.engine.test_resume import calm
from tests.helpers import runs
from tests.helpers.runs import make_trainer, run_training
from tests.helpers.studies import study_of
from warlab.artefacts.run_config import RunConfig
from warlab.common.files import read_arrays
from warlab.engine.build import RunFiles, training_part
from warlab.engine.finished import predict_run
from warlab.engine.run import train_run
from warlab.errors import WarlabError
from warlab.reporting.read import results


def wanted(method: str = "cce", share: float | None = 0.25, **other: Any) -> dict[str, Any]:
    run = runs.resolved(method, **other)
    return run if share is None else {**run, "training": {**run["training"], "validation": share}}


def written(folder: Path, **options: Any) -> RunFiles:
    """Without the predictions of another run."""
    return replace(runs.write_files(folder, **options), predictions=None)


def test_the_seed_decides_what_is_kept_back() -> None:
    first, second = training_part(100, 0.2, 0), training_part(100, 0.2, 1)
    assert len(first) == 80 and (np.diff(first) > 0).all() and set(first) != set(second)
    assert (first == training_part(100, 0.2, 0)).all() and (training_part(100, 0.0, 0) == np.arange(100)).all()


def test_methods_see_the_rest_only(tmp_path: Path) -> None:
    files = written(tmp_path, n=64, noise="sym-40")
    labels = read_arrays(files.noise)["labels"]
    built = make_trainer(wanted(), files, tmp_path)
    kept = training_part(64, 0.25, 0)
    assert len(built.data) == 48 and (built.method.task.labels.numpy() == labels[kept]).all()
    seen = np.sort(torch.cat(built.data.epoch(0)).numpy())
    assert (seen == np.arange(48)).all()  # stable numbers of the rest
    whole = make_trainer(wanted(share=0.0), files, tmp_path)
    assert torch.equal(built.data.batch(torch.arange(48)).x, whole.data.batch(torch.from_numpy(kept)).x)


def test_a_share_of_zero_changes_not_one_bit(tmp_path: Path) -> None:
    files = written(tmp_path)
    for share, name in ((None, "without"), (0.0, "zero")):
        run_training(wanted(share=share), files, tmp_path / name)
    runs.assert_same(tmp_path / "without", tmp_path / "zero")
    assert "validation" not in (tmp_path / "zero" / "metrics.csv").read_text()


def test_the_reading_is_of_the_best_epoch_and_the_audit_names_samples_by_their_indices_among_all(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "fashion_mnist" / "asym-40" / "cnn9" / "cce" / "seed0"
    files = written(tmp_path, n=64, noise="sym-40")
    run_training(wanted(epochs=5), files, folder)
    found, kept = read_arrays(folder / "audit.npz"), training_part(64, 0.25, 0)
    assert (np.flatnonzero(found["seen"]) == kept).all()
    assert (found["labels"][kept] == read_arrays(files.noise)["labels"][kept]).all()
    assert len(found["labels"]) == 64 and (np.delete(found["labels"], kept) == -1).all()
    table = results.collect([folder])
    best = table["test_accuracy"].iloc[int(table["validation_accuracy"].to_numpy().argmax())]
    assert results.readings(table)["best_by_noisy_validation"].tolist() == [best]


def early(epochs: int, share: float = 0.25, keep: str = "best_validation") -> dict[str, Any]:
    """A run that ends with the network of its best epoch; a large rate makes its last epoch another one."""
    run = wanted(epochs=epochs, share=share)
    run["training"] |= {"keep": keep, "lr": 0.03}
    return run


def test_a_run_may_end_with_the_network_that_the_noisy_labels_choose(tmp_path: Path) -> None:
    """Its scores, weights and predictions are those of a run that was trained up to the epoch with the lowest loss."""
    files = written(tmp_path, n=64, noise="sym-40")
    every, chosen = (calm(early(8, keep=keep), files, tmp_path / keep).trainer for keep in ("last", "best_validation"))
    losses = [row["validation_loss"] for row in every.rows]
    assert [row["validation_loss"] for row in chosen.rows] == losses  # trained alike, and judged epoch by epoch
    best = [int(np.argmin(losses[: epoch + 1])) for epoch in range(8)]
    assert best[-1] < 7, "the last epoch is the best: nothing is tested"
    assert [row["kept_epoch"] for row in chosen.rows] == [epoch + 1 for epoch in best]
    for column in ("test_accuracy", "memorised", "recall_0"):
        assert [row[column] for row in chosen.rows] == [every.rows[epoch][column] for epoch in best]
    assert torch.equal(chosen.evaluate.recent[-1], every.evaluate.recent[best[-1] - 8])
    found = chosen.evaluate(chosen.method, chosen.models)
    assert found["validation_loss"] == min(losses) and found["test_accuracy"] == chosen.rows[-1]["test_accuracy"]


def test_forward_reads_predictions_of_all_images_by_the_chosen_network(tmp_path: Path) -> None:
    """Held out or not, and whatever share Forward itself holds out."""
    files, run = written(tmp_path, n=64, noise="sym-40"), RunConfig.from_dict(early(4))
    train_run(run, {}, files, tmp_path / "cce", 1)
    made = tmp_path / "cce" / "predictions.npz"
    predict_run(run, files, tmp_path / "cce" / "weights.pt", made, 1)
    every = torch.from_numpy(read_arrays(made)["probabilities"])
    built = make_trainer(early(4, share=0.0), files, tmp_path)
    (state,) = runs.weights(tmp_path / "cce")
    built.models[0].load_state_dict(state)
    with torch.no_grad():
        expected = built.models[0].eval()(built.data.batch(torch.arange(64)).x).softmax(1)
    torch.testing.assert_close(every, expected)
    for share in (0.0, 0.25):
        task = make_trainer(wanted("forward", share=share), replace(files, predictions=made), tmp_path).method.task
        assert task.predictions is not None and torch.equal(task.predictions, every[training_part(64, share, 0)])
    with pytest.raises(WarlabError, match="predictions for 64 samples, but there are 60"):
        make_trainer(wanted("forward"), replace(written(tmp_path / "other", n=60), predictions=made), tmp_path)
    with pytest.raises(WarlabError, match=r"`validation` of 0\.001 leaves 64 of 64 samples"):
        make_trainer(wanted(share=0.001), files, tmp_path)


def test_the_share_is_a_setting_of_a_scale_and_of_overrides() -> None:
    study = study_of("demo", overrides={"training": {"fashion_mnist": {"validation": 0.1}}})
    assert study.settings.training("fashion_mnist", "asym-40", "cce")["validation"] == 0.1
    assert study_of("demo").settings.training("fashion_mnist")["validation"] == 0.0
    for share in (0.9, -0.1, "x"):
        with pytest.raises(WarlabError, match=rf"training\.fashion_mnist\.validation is '?{share}'?; it must be"):
            study_of("demo", overrides={"training": {"fashion_mnist": {"validation": share}}})
    with pytest.raises(WarlabError, match=r"training\.vaihingen has no 'validation'"):
        study_of("demo", overrides={"training": {"vaihingen": {"validation": 0.1}}})
