"""Faults that happen to a whole workflow: stopped jobs, a killed snakemake, two at once, moved folders, odd places."""

import os
import re
import shutil
import signal
import time
from pathlib import Path

import pytest

from tests.faults.counting import count, long
from tests.faults.workflow import (
    RUN,
    TABLE,
    assert_same_results,
    begin,
    call,
    planned,
    project,
    said,
    trainer_of,
    training_log,
)
from tests.helpers.runs import wait_for
from warlab.common.files import read_json

EPOCHS = 8
thorough = pytest.mark.skipif(not long(), reason="part of make test-faults")
METHODS = ("cce", "war_w2v")


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished, undisturbed copy."""
    folder = project(tmp_path_factory.mktemp("calm"), EPOCHS)
    call(folder, "--cores", "2", TABLE)
    return folder


def test_a_stopped_training_is_retried_and_resumes(calm: Path, tmp_path: Path) -> None:
    """SIGTERM → exit code 75 → a failed job for Snakemake → its retry continues."""
    folder = project(tmp_path, EPOCHS)
    snakemake = begin(folder, "--cores", "1", "--retries", "1", TABLE)
    wait_for(training_log(folder, "war_w2v"), "epoch 2/")
    os.kill(trainer_of(folder, "war_w2v"), signal.SIGTERM)
    assert snakemake.wait(300) == 0, said(folder)[-3000:]
    log = training_log(folder, "war_w2v").read_text()
    assert "SIGTERM received: saved epoch" in log and "resumed from epoch" in log
    assert_same_results(calm, folder, *METHODS)
    count("SIGTERM or SIGUSR1")


def test_a_killed_snakemake_started_again_waits_for_its_running_job(calm: Path, tmp_path: Path) -> None:
    """SIGKILL leaves the training running; the second one must not train the same run beside it."""
    folder = project(tmp_path, EPOCHS)
    first = begin(folder, "--cores", "1", TABLE)
    log = training_log(folder, "war_w2v")
    wait_for(log, "epoch 1/")
    training = trainer_of(folder, "war_w2v")
    os.kill(training, signal.SIGSTOP)  # so that it cannot end before the second one is there
    first.kill()
    first.wait()
    call(folder, "--unlock")
    second = begin(folder, "--cores", "1", TABLE)
    wait_for(log, "already being trained by process")
    os.kill(training, signal.SIGCONT)
    assert second.wait(300) == 0, said(folder)[-3000:]
    text = log.read_text()
    assert "keeping its result" in text
    assert [text.count(f"epoch {k}/{EPOCHS} ") for k in range(1, EPOCHS + 1)] == [1] * EPOCHS, (
        "no epoch is trained twice"
    )
    assert_same_results(calm, folder, *METHODS)
    count("SIGKILL of snakemake")


@thorough
def test_a_second_snakemake_in_the_same_folder_is_sent_away(calm: Path, tmp_path: Path) -> None:
    folder = project(tmp_path, EPOCHS)
    first = begin(folder, "--cores", "1", TABLE)
    wait_for(training_log(folder, "war_w2v"), "epoch 1/")
    second = begin(folder, "--cores", "1", TABLE)
    assert second.wait(120) == 1
    assert "cannot be locked" in said(folder)
    assert first.wait(300) == 0
    assert_same_results(calm, folder, *METHODS)
    count("two snakemake at once")


@thorough
def test_two_snakemake_at_once_without_its_lock_corrupt_nothing(calm: Path, tmp_path: Path) -> None:
    """One may be left without a file that the other has just taken away to make it again; a third call completes."""
    folder = project(tmp_path, EPOCHS)
    pair = [begin(folder, "--cores", "1", "--nolock", TABLE) for _ in range(2)]
    for process in pair:
        process.wait(400)
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
    for pattern in ("data/**/*", "results/faults/data/*", "results/faults/noise/**/*", "results/faults/costs/**/*"):
        for file in folder.glob(pattern):
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


def test_a_results_folder_with_spaces_quotes_and_shell_characters(tmp_path: Path) -> None:
    """It reaches neither a shell nor a wildcard."""
    folder = project(tmp_path / "pro ject $(touch evil)", EPOCHS)
    odd = "re sults; touch evil 'q' \"p\" $(touch evil) `touch evil` \\input & *"
    call(folder, "--cores", "1", "--config", "scale=faults", f"results_root={odd}", "--", "data")
    assert (folder / odd / "faults" / "data" / "fashion_mnist.npz").is_file()
    assert not [file for place in (tmp_path, folder) for file in place.glob("evil*")]
    count("hostile name")


def test_status_reads_the_files_of_a_finished_and_a_broken_run(calm: Path) -> None:
    text = call(calm, "--cores", "1", "status")
    assert re.search(r"^done +fashion_mnist/asym-40/cnn9/war_w2v/seed0 +8/8 +[\d.]+ %", text, re.MULTILINE)
    assert "faults: 2 runs, 2 done" in text


def test_trainings_share_two_gpus_that_are_only_counted(tmp_path: Path) -> None:
    """profiles/gpu: two at a time, each with a GPU of its own."""
    folder = project(tmp_path, 3)
    counted = {"WARLAB_GPUS": "2", "WARLAB_DEVICE": "cpu", "TMPDIR": str(tmp_path)}
    call(folder, "--workflow-profile", "profiles/gpu", TABLE, **counted)
    seen = [read_json(folder / RUN / m / "seed0" / "result.json")["provenance"]["visible_gpus"] for m in METHODS]
    assert set(seen) <= {"0", "1"} and None not in seen
