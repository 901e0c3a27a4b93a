"""The engine: one writer, the identity of a run, and clear errors; tests/faults interrupts it."""

import io
import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from tests.helpers.checkout import PATIENCE
from tests.helpers.runs import resolved, run_training, start, wait_for, write_files
from warlab.artefacts.run_config import RunConfig
from warlab.artefacts.run_result import RunResult
from warlab.common.files import read_arrays, read_json
from warlab.common.progress import duration
from warlab.engine.build import make_optimiser
from warlab.engine.checkpoint import StopRequest
from warlab.engine.images import Images, TrainingData
from warlab.engine.lock import only_writer
from warlab.engine.run import to_csv, train_run
from warlab.engine.train import Schedule, Trainer, summary
from warlab.errors import WarlabError


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1])
def test_a_signal_is_a_request_to_stop_while_a_run_is_trained(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with StopRequest() as stop:
        assert not stop
        os.kill(os.getpid(), number)
        assert stop and stop.received == number.name
    assert signal.getsignal(number) == before


@pytest.mark.parametrize("method", ["cce", "coteaching"])
def test_the_predictions_of_the_last_ten_epochs_give_their_accuracies(method: str, tmp_path: Path) -> None:
    files = write_files(tmp_path)
    run_training(resolved(method, epochs=12), files, tmp_path / "run")
    kept, labels = read_arrays(tmp_path / "run" / "test_predictions.npz"), read_arrays(files.data)["test_y"]
    assert kept["predictions"].dtype == np.uint8
    assert kept["predictions"].shape == (10, 2 if method == "coteaching" else 1, len(labels))
    assert kept["epochs"].tolist() == list(range(3, 13))
    accuracy = 100 * (kept["predictions"] == labels).mean((1, 2))
    np.testing.assert_allclose(accuracy, pd.read_csv(tmp_path / "run" / "metrics.csv")["test_accuracy"][-10:])


def test_a_second_process_waits_and_takes_the_finished_result(tmp_path: Path) -> None:
    """This test plays the first process: it holds the lock, finishes the run, and releases the lock."""
    run, files = resolved("cce", epochs=2), write_files(tmp_path)
    run_training(run, files, tmp_path / "elsewhere")
    out, log = tmp_path / "two", tmp_path / "two" / "log.txt"
    with only_writer(out):
        second = start(run, files, out)
        wait_for(log, f"process {os.getpid()} on")
        for file in ("metrics.csv", "weights.pt", "test_predictions.npz", "audit.npz", "result.json"):
            shutil.copy(tmp_path / "elsewhere" / file, out)
    assert second.wait(PATIENCE) == 0
    text = log.read_text()
    assert "already being trained by process" in text and "keeping its result" in text and "epoch 1/2" not in text


def test_inputs_that_change_while_a_process_waits_are_those_that_the_result_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def wait_long(*given: Any) -> Iterator[Any]:
        with only_writer(*given) as announce:
            write_files(tmp_path, n=65)
            yield announce

    files = write_files(tmp_path)
    monkeypatch.setattr("warlab.engine.run.only_writer", wait_long)
    run_training(resolved("cce", epochs=1), files, tmp_path / "out")
    assert RunResult.load(tmp_path / "out" / "result.json").identity.inputs == files.checksums()


def test_a_changed_setting_code_or_input_is_another_run(tmp_path: Path) -> None:
    files, ids = write_files(tmp_path), set()
    for out, run, code in (
        ("a", resolved("cce", epochs=1), {"a.py": "0"}),
        ("b", resolved("cce", epochs=2), {"a.py": "0"}),
        ("c", resolved("cce", epochs=1), {"a.py": "1"}),
    ):
        train_run(RunConfig.from_dict(run), code, files, tmp_path / out, 1)
        ids.add(read_json(tmp_path / out / "result.json")["id"])
    run_training(resolved("cce", epochs=1), write_files(tmp_path, n=65), tmp_path / "d")
    ids.add(read_json(tmp_path / "d" / "result.json")["id"])
    assert len(ids) == 4


def good_epochs(out: Path) -> int:
    """Return the number of epochs in the latest checkpoint of a run, whose weights must be finite."""
    (latest,) = (out / "checkpoint").glob("*/latest.ckpt")
    state = torch.load(io.BytesIO(latest.read_bytes()[64:]), weights_only=True)
    assert all(torch.isfinite(values).all() for values in state["models"][0].values())
    return len(state["rows"])


def test_a_loss_that_is_no_number_stops_and_keeps_the_last_good_state(tmp_path: Path) -> None:
    run = resolved("war_w2v", epochs=3, beta=float("inf"), warmup=2)
    with pytest.raises(WarlabError, match="loss of war is not a finite number in epoch 3, batch 1"):
        run_training(run, write_files(tmp_path), tmp_path / "out")
    assert good_epochs(tmp_path / "out") == 2


@pytest.mark.parametrize("epoch", [2, 3])
@pytest.mark.parametrize("part", ["parameters", "buffers"])
def test_a_weight_that_is_no_number_stops_and_keeps_the_last_good_state(
    part: str, epoch: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the last step of an epoch, whose loss is finite: what an overflowing update leaves."""
    step, steps = Trainer._step, count(1)

    def overflow(self: Trainer, *given: Any) -> Any:
        done = step(self, *given)
        if next(steps) == 4 * epoch:
            with torch.no_grad():
                next(getattr(self.models[0], part)()).fill_(torch.inf)
        return done

    monkeypatch.setattr(Trainer, "_step", overflow)
    run = RunConfig.from_dict(resolved("cce", epochs=3))
    with pytest.raises(WarlabError, match=f"A weight of cce is not a finite number in epoch {epoch}, batch 4"):
        train_run(run, {}, write_files(tmp_path), tmp_path / "out", 1)
    assert good_epochs(tmp_path / "out") == epoch - 1 and not (tmp_path / "out" / "result.json").exists()


def test_every_sample_once_per_epoch_in_an_order_of_seed_and_epoch() -> None:
    images = Images(np.zeros((33, 1, 8, 8), np.uint8), [0.5], [0.5], torch.device("cpu"))
    data = TrainingData(images, torch.zeros(33, dtype=torch.long), 16, seed=0)
    orders = [torch.cat(data.epoch(epoch)) for epoch in (0, 0, 1)]
    assert sorted(orders[0].tolist()) == list(range(33))
    assert torch.equal(orders[0], orders[1]) and not torch.equal(orders[0], orders[2])
    assert [len(batch) for batch in data.epoch(0)] == [16, 17]  # no batch of a single image
    other = TrainingData(images, torch.zeros(33, dtype=torch.long), 16, seed=1)
    assert not torch.equal(orders[0], torch.cat(other.epoch(0)))


def test_schedule_drops_at_the_start_of_the_named_epochs() -> None:
    schedule = Schedule(60, 1e-3, (20, 40))
    assert [schedule.rate(e) for e in (0, 19, 20, 39, 40, 59)] == pytest.approx([1e-3, 1e-3, 1e-4, 1e-4, 1e-5, 1e-5])


def test_unknown_optimiser_is_one_sentence() -> None:
    with pytest.raises(WarlabError, match="adam or sgd, not 'lion'"):
        make_optimiser(torch.nn.Linear(1, 1), resolved("cce")["training"] | {"optimiser": "lion"})


def test_readings_of_a_run() -> None:
    rows = [{"test_accuracy": float(v)} for v in (99, *range(10))]
    assert summary(rows) == pytest.approx(
        {"last10_mean": 4.5, "last10_std": np.std(range(10)), "last": 9.0, "best_on_test_diagnostic": 99.0}
    )


def test_csv_has_the_union_of_columns_and_durations_read_well() -> None:
    assert to_csv([{"a": 1.0}, {"a": 2.0, "b": 3.0}]) == "a,b\n1.0,\n2.0,3.0\n"
    assert [duration(seconds) for seconds in (12, 200, 3900)] == ["12 s", "3 min 20 s", "1 h 05 min"]
