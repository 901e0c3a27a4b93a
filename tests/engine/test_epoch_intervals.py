"""What is not done in every epoch: checkpoints at most every two minutes, evaluations every few epochs."""

from pathlib import Path
from typing import Any

import pytest

from tests.engine.test_resume import Killed, Part, assert_same_bits, calm
from tests.helpers.runs import resolved, write_files
from warlab.engine.checkpoint import INTERVAL, CheckpointFolder
from warlab.engine.train import summary
from warlab.errors import Interrupted, WarlabError

EPOCHS = 12


def run_of(method: str, **training: Any) -> dict[str, Any]:
    run = resolved(method, epochs=EPOCHS, batch_size=32)
    run["training"] |= training
    return run


def kill_in(part: Part, epoch: int, batch: int) -> None:
    """End abruptly before this step."""
    step = part.trainer._step

    def call(at: Any, index: Any) -> Any:
        if (at.epoch, at.batch) == (epoch, batch):
            raise Killed
        return step(at, index)

    part.trainer._step = call  # type: ignore[method-assign]


def test_a_stop_loses_nothing_though_nothing_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also while an epoch is prepared: then the state is that of the epoch before, which was kept in memory."""
    monkeypatch.setenv(INTERVAL, "3600")
    run, files = run_of("d2l"), write_files(tmp_path, noise="sym-40")
    whole = calm(run, files, tmp_path / "calm")
    for epoch, place in ((3, "_begin"), (6, "_step")):
        part = Part(run, files, tmp_path / "parts")
        part.stop_at(part.trainer, place, epoch)
        with pytest.raises(Interrupted, match=f"saved epoch {epoch + 1}"):
            part.fit()
    last = calm(run, files, tmp_path / "parts")
    assert last.said == ["resumed from epoch 7, batch 1"]
    assert_same_bits(whole.trainer, last.trainer)


def test_a_long_epoch_is_saved_in_its_middle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(INTERVAL, "1e-9")
    run, files = run_of("pencil"), write_files(tmp_path, noise="sym-40")
    whole = calm(run, files, tmp_path / "calm")
    part = Part(run, files, tmp_path / "parts")
    kill_in(part, 4, 1)
    with pytest.raises(Killed):
        part.fit()
    last = calm(run, files, tmp_path / "parts")
    assert last.said == ["resumed from epoch 5, batch 1"] and last.steps[0] == (4, 1)
    assert_same_bits(whole.trainer, last.trainer)


def test_no_more_than_the_interval_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("warlab.engine.checkpoint.time.monotonic", lambda: now[0])
    monkeypatch.setenv(INTERVAL, "120")
    folder = CheckpointFolder(tmp_path, "id")
    for seconds, written in ((60, None), (119, None), (121, 121), (200, 121), (241, 241)):
        now[0] = float(seconds)
        folder.keep({"n": seconds})
        found = CheckpointFolder(tmp_path, "id").load()
        assert (found and found["n"]) == written


@pytest.mark.parametrize("given", ["soon", "-1", "inf", "nan"])
def test_an_interval_that_is_none_is_a_sentence(given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(INTERVAL, given)
    with pytest.raises(WarlabError, match=f"{INTERVAL} is '{given}'; give a number of seconds"):
        CheckpointFolder(tmp_path, "id")


def test_epochs_without_an_evaluation_change_nothing_else(tmp_path: Path) -> None:
    run, files = run_of("cce"), write_files(tmp_path, noise="sym-40")
    every = calm(run, files, tmp_path / "every").trainer
    run["training"] |= {"epochs": EPOCHS, "evaluate_every": 2}
    some = calm(run, files, tmp_path / "some").trainer
    tested = [row["epoch"] for row in some.rows if "test_accuracy" in row]
    assert tested == [2, *range(3, EPOCHS + 1)]  # the last ten are always tested
    assert summary(some.rows)["last10_mean"] == summary(every.rows)["last10_mean"]
    for row, full in zip(some.rows, every.rows, strict=True):
        assert row["loss"] == full["loss"] and row.get("test_accuracy", full["test_accuracy"]) == full["test_accuracy"]


def test_processor_time_is_counted_over_stops(tmp_path: Path) -> None:
    run, files = run_of("cce"), write_files(tmp_path)
    part = Part(run, files, tmp_path / "out")
    part.stop_at(part.trainer, "_step", 2)
    with pytest.raises(Interrupted):
        part.fit()
    rows = calm(run, files, tmp_path / "out").trainer.rows
    assert len(rows) == EPOCHS and all(row["processor_seconds"] > 0 for row in rows)
