"""Faults that happen to a whole workflow: stopped jobs, a killed snakemake, two at once, moved folders, odd names."""

import os
import shutil
import signal
import time
from pathlib import Path

import pandas as pd
import pytest
import yaml

from tests.faults.counting import count, long
from tests.faults.workflow import (
    METHODS,
    TABLE,
    assert_same_results,
    assert_trained_once,
    call,
    copy_without,
    finish,
    log_of,
    planned,
    project,
    provenance,
    start,
    trainer_of,
    training_log,
)
from tests.helpers.checkout import PATIENCE
from tests.helpers.runs import wait_for

EPOCHS = 8
thorough = pytest.mark.skipif(not long(), reason="part of make test-faults")


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished, undisturbed study."""
    folder = project(tmp_path_factory.mktemp("calm"), EPOCHS)
    call(folder, "--cores", "2", TABLE)
    return folder


def test_a_stopped_training_is_retried_and_resumes(calm: Path, tmp_path: Path) -> None:
    """SIGTERM → exit code 75 → a failed job for Snakemake → its retry continues."""
    folder = copy_without(calm, tmp_path, "war_w2v")
    snakemake = start(folder, "--cores", "1", "--retries", "1", TABLE)
    wait_for(training_log(folder, "war_w2v"), "epoch 2/")
    os.kill(trainer_of(folder, "war_w2v"), signal.SIGTERM)
    finish(snakemake, folder)
    log = training_log(folder, "war_w2v").read_text()
    assert "SIGTERM received: saved epoch" in log and "resumed from epoch" in log
    assert_same_results(calm, folder, *METHODS)
    count("SIGTERM or SIGUSR1")


def test_snakemake_started_again_after_a_kill_waits_for_its_running_job(calm: Path, tmp_path: Path) -> None:
    """SIGKILL leaves the training running; the second snakemake must not train the same run next to it."""
    folder = copy_without(calm, tmp_path, "war_w2v")
    first = start(folder, "--cores", "1", TABLE)
    log = training_log(folder, "war_w2v")
    wait_for(log, "epoch 1/")
    training = trainer_of(folder, "war_w2v")
    os.kill(training, signal.SIGSTOP)  # so that it cannot end before the second one waits
    first.kill()
    first.wait()
    call(folder, "--unlock")
    second = start(folder, "--cores", "1", TABLE)
    wait_for(log, "already being trained by process")
    os.kill(training, signal.SIGCONT)
    finish(second, folder)
    text = log.read_text()
    assert "its result" in text
    assert_trained_once(text, EPOCHS)
    assert_same_results(calm, folder, *METHODS)
    count("SIGKILL of snakemake")


@thorough
def test_a_second_snakemake_in_the_same_folder_is_refused(calm: Path, tmp_path: Path) -> None:
    folder = copy_without(calm, tmp_path, "war_w2v")
    first = start(folder, "--cores", "1", TABLE)
    wait_for(training_log(folder, "war_w2v"), "epoch 1/")
    second = start(folder, "--cores", "1", TABLE)
    assert second.wait(PATIENCE) == 1
    assert "cannot be locked" in log_of(folder)
    finish(first, folder)
    assert_same_results(calm, folder, *METHODS)
    count("two snakemake at once")


@thorough
def test_two_snakemake_at_once_without_its_lock_corrupt_nothing(calm: Path, tmp_path: Path) -> None:
    """One may miss a file that the other has just removed in order to make it again; a third call completes."""
    folder = project(tmp_path, EPOCHS)
    pair = [start(folder, "--cores", "1", "--nolock", TABLE) for _ in range(2)]
    for process in pair:
        process.wait(PATIENCE)
    call(folder, "--cores", "1", TABLE)
    assert_same_results(calm, folder, *METHODS)
    assert planned(folder, TABLE) == {}
    count("two snakemake at once")


def test_results_moved_to_another_path_are_not_made_again(calm: Path, tmp_path: Path) -> None:
    moved = tmp_path / "another place"
    shutil.copytree(calm, moved)
    (moved / "results").rename(moved / "elsewhere")
    target = TABLE.replace("results/", "elsewhere/", 1)
    assert planned(moved, target, "--config", "results_root=elsewhere", "scale=faults") == {}
    count("results moved")


def test_a_clock_set_back_reruns_nothing(calm: Path, tmp_path: Path) -> None:
    """All inputs are from tomorrow, all results from today."""
    folder = tmp_path / "clock"
    shutil.copytree(calm, folder)
    tomorrow = time.time() + 86400
    for inputs in ("data", "results/faults/data", "results/faults/noise", "results/faults/costs"):
        for file in (folder / inputs).rglob("*"):
            os.utime(file, (tomorrow, tomorrow))
    assert planned(folder, TABLE) == {}
    count("clock set back")


def test_a_changed_data_file_is_noticed_by_its_content(calm: Path, tmp_path: Path) -> None:
    folder = tmp_path / "changed"
    shutil.copytree(calm, folder)
    file = folder / "results/faults/data/fashion_mnist.npz"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    assert planned(folder, TABLE).get("corrupt") == 1
    count("data changed")


def test_a_bad_cost_stops_before_training(calm: Path, tmp_path: Path) -> None:
    folder = copy_without(calm, tmp_path, "war_w2v")
    cost = pd.read_csv(folder / "results/faults/costs/fashion_mnist/w2v/cost.csv", index_col=0)
    cost.iloc[0, 1] = -0.5
    cost.to_csv(folder / "bad.csv")
    overrides = {"methods": {"war_w2v": {"cost": "file"}}, "costs": {"file": {"path": "bad.csv"}}}
    (folder / "bad.yaml").write_text(yaml.safe_dump({"overrides": overrides}))
    before = len(log_of(folder))
    assert start(folder, "--configfile", "bad.yaml", "--cores", "1", TABLE).wait(PATIENCE) == 1
    printed = log_of(folder)[before:]
    assert "fails the check 'symmetry'" in printed and "training will not start until it passes" in printed
    assert "Traceback" not in printed and "rule train:" not in printed
    count("hostile cost")


def test_spaces_quotes_and_shell_characters_in_paths_reach_no_shell(tmp_path: Path) -> None:
    folder = project(tmp_path / "pro ject $(touch evil)", EPOCHS)
    odd = "re sults; touch evil 'q' \"p\" $(touch evil) `touch evil` \\input & *"
    call(folder, "--cores", "1", "--config", "scale=faults", f"results_root={odd}", "--", "data")
    assert (folder / odd / "faults" / "data" / "fashion_mnist.npz").is_file()
    assert not [file for place in (tmp_path, folder) for file in place.glob("evil*")]
    count("hostile name")


def test_two_trainings_at_a_time_lease_a_gpu_each(calm: Path, tmp_path: Path) -> None:
    """profiles/gpu, with GPUs that are only counted."""
    folder = copy_without(calm, tmp_path, *METHODS)
    counted = {"WARLAB_GPUS": "2", "WARLAB_DEVICE": "cpu", "TMPDIR": str(tmp_path)}
    call(folder, "--workflow-profile", "profiles/gpu", TABLE, **counted)
    assert {provenance(folder, method)["visible_gpus"] for method in METHODS} <= {"0", "1"}
