"""tools/make_evidence.py: what is kept of a finished scale."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.conftest import ROOT
from warlab.common.files import write_arrays
from warlab.reporting.read.predictions import correct_answers, read_predictions
from warlab.reporting.read.results import read_runs

LAST_TEN = {"cce": 79.0, "forward": 82.0, "coteaching": 75.0, "war_w2v": 90.0, "gce": 80.0}


def finished_scale(folder: Path) -> Path:
    """Runs of 12 epochs that stand at 50 % for two and then at their number; the paper has no gce."""
    rows = [
        ("fashion_mnist", "asym-40", "cnn9", method, 0, "real", epoch, 50.0 if epoch < 3 else number, 30.0)
        for method, number in LAST_TEN.items()
        for epoch in range(1, 13)
    ]
    columns = ["dataset", "noise", "net", "method", "seed", "data", "epoch", "test_accuracy", "seconds"]
    (folder / "figures").mkdir(parents=True)
    pd.DataFrame(rows, columns=columns).to_csv(folder / "runs.csv", index=False)
    (folder / "figures" / "learning_curves.png").write_bytes(b"the picture")
    return folder


def make(source: Path, target: Path, *options: str) -> subprocess.CompletedProcess:
    command = [sys.executable, ROOT / "tools" / "make_evidence.py", source, target, *options]
    return subprocess.run(command, capture_output=True, text=True)


def test_summary_has_both_numbers_ranks_and_kendalls_tau(tmp_path):
    result = make(finished_scale(tmp_path / "results"), tmp_path / "evidence")
    assert result.returncode == 0, result.stderr
    table = pd.read_csv(tmp_path / "evidence" / "summary.csv").set_index("method")
    assert table["ours"].to_dict() == LAST_TEN
    assert table.loc["war_w2v", ["published", "rank", "published_rank", "above_cce", "minutes"]].tolist() == [
        90.41, 1, 1, 11.0, 6.0
    ]  # fmt: skip
    assert table.loc["coteaching", ["rank", "published_rank"]].tolist() == [4, 2]
    assert table.loc["gce", ["published", "rank"]].isna().all()
    # pairs of cce < forward < war_w2v agree; coteaching lies below cce and forward here, above them in the paper
    assert "τ with the paper: 0.33 " in (tmp_path / "evidence" / "summary.md").read_text()


def test_runs_and_picture_are_kept_as_they_are(tmp_path):
    source = finished_scale(tmp_path / "results")
    make(source, tmp_path / "evidence")
    assert (tmp_path / "evidence" / "learning_curves.png").read_bytes() == b"the picture"
    pd.testing.assert_frame_equal(read_runs(tmp_path / "evidence" / "runs.csv"), read_runs(source / "runs.csv"))


def test_times_can_be_left_out(tmp_path):
    source = finished_scale(tmp_path / "results")
    assert make(source, tmp_path / "evidence", "--no-times").returncode == 0
    kept = read_runs(tmp_path / "evidence" / "runs.csv")
    pd.testing.assert_frame_equal(kept, read_runs(source / "runs.csv").drop(columns="seconds"))
    assert "minutes" not in (tmp_path / "evidence" / "summary.md").read_text()
    again = make(finished_scale(tmp_path / "more"), tmp_path / "evidence")
    assert again.returncode == 0 and "minutes" in (tmp_path / "evidence" / "summary.csv").read_text()


def test_an_unfinished_scale_writes_nothing(tmp_path):
    source = finished_scale(tmp_path / "results")
    (source / "figures" / "learning_curves.png").unlink()
    result = make(source, tmp_path / "evidence")
    assert result.returncode == 1
    assert "learning_curves.png" in result.stderr and "run the whole scale first" in result.stderr
    assert not (tmp_path / "evidence").exists()


def test_predictions_and_reductions_are_kept(tmp_path):
    source = finished_scale(tmp_path / "laptop")
    run = "fashion_mnist/asym-40/cnn9/war_w2v/seed0"
    given = np.arange(20, dtype=np.uint8).reshape(2, 1, 10) % 10
    write_arrays(source / "runs" / run / "test_predictions.npz", predictions=given, epochs=np.array([11, 12]))
    write_arrays(source / "data" / "fashion_mnist.npz", test_y=np.arange(10), test_x=np.zeros(1))
    assert make(source, tmp_path / "evidence").returncode == 0
    kept = read_predictions([tmp_path / "evidence" / "test_predictions.npz"])
    assert correct_answers(kept, run).all((0, 1)).tolist() == [True] * 10 and sorted(kept) == [
        run,
        "labels/fashion_mnist",
    ]
    assert "| Fashion-MNIST, cnn9: dropout | 0.25 | 0.125 |" in (tmp_path / "evidence" / "reductions.md").read_text()


def write_run(scale: Path, method: str, seed: int, accuracy: float, right: list[int]) -> None:
    """A finished run whose predictions are right for these of ten test images; their true class is 0."""
    folder = scale / "runs/fashion_mnist/asym-40/cnn9" / method / f"seed{seed}"
    folder.mkdir(parents=True)
    rows = "\n".join(f"{epoch},{accuracy}" for epoch in range(1, 13))
    (folder / "metrics.csv").write_text(f"epoch,test_accuracy\n{rows}\n")
    (folder / "result.json").write_text('{"data": "real"}')
    predicted = np.array([[[0 if image in right else 1 for image in range(10)]]], np.uint8)
    write_arrays(folder / "test_predictions.npz", predictions=predicted)


def test_a_method_with_one_seed_is_compared_with_that_seed_of_cce(tmp_path):
    """Seed 0 of CCE is 10 points below its others, as right answers and as accuracy; Forward has only seed 1, where it
    is 3 points above CCE, and ranks behind WAR though its number is higher."""
    scale = tmp_path / "results"
    for seed, (accuracy, right) in enumerate([(60.0, [0, 1, 2, 3, 4, 5])] + [(70.0, [0, 1, 2, 3, 4, 5, 6])] * 2):
        write_run(scale, "cce", seed, accuracy, right)
    write_run(scale, "war_w2v", 0, 80.0, [0, 1, 2, 3, 4, 5, 6, 7])
    write_run(scale, "forward", 1, 83.0, [0])
    write_arrays(scale / "data" / "fashion_mnist.npz", test_y=np.zeros(10, np.uint8))
    result = make(scale, tmp_path / "evidence", "--unfinished")
    assert result.returncode == 0, result.stderr
    table = pd.read_csv(tmp_path / "evidence" / "summary.csv").set_index("method")
    assert table["rank"].to_dict() == {"war_w2v": 1, "forward": 2, "cce": 3}
    row = table.loc["war_w2v"]
    error = 100 * np.std([0] * 8 + [1] * 2, ddof=1) / np.sqrt(10)  # seed 0 of both: two images more
    reach = stats.norm.ppf(0.975) * error
    assert row["above_cce"] == 20.0, "the mean of all three seeds of CCE would make it 13.33"
    assert row["interval"] == f"{20 - reach:+.2f} to {20 + reach:+.2f}"
    assert row["interval_from"] == "10 paired test images"


def test_variants_are_compared_with_their_method_and_all_with_war_and_ar(tmp_path):
    values = {
        "cce": [70.0, 71.0, 69.0],
        "ar": [72.0, 72.0, 72.0],
        "war_w2v": [74.0, 74.0, 75.0],
        "sl": [70.0, 70.0, 70.0],
    }
    values |= {"war_w2v+epsilon=0": [75.0, 75.0, 78.0], "sl+a=2.0": [71.0, 72.0, 73.0]}
    for method, numbers in values.items():
        for seed, number in enumerate(numbers):
            write_run(tmp_path / "results", method, seed, number, [0])
    write_arrays(tmp_path / "results" / "data" / "fashion_mnist.npz", test_y=np.zeros(10, np.uint8))
    result = make(tmp_path / "results", tmp_path / "evidence", "--unfinished")
    assert result.returncode == 0, result.stderr
    lines = (tmp_path / "evidence" / "summary.md").read_text().splitlines()
    reach = stats.t.ppf(0.975, 2) * np.std([1, 1, 3], ddof=1) / np.sqrt(3)
    interval = f"{5 / 3 - reach:+.2f} to {5 / 3 + reach:+.2f}"
    assert f"| war_w2v+epsilon=0 | war_w2v | +1.67 | {interval} | 3 seeds, Student's t |" in lines
    compared = {tuple(line.split(" | ")[:2]) for line in lines}
    assert {("| war_w2v", "ar"), ("| cce", "ar"), ("| ar", "war_w2v"), ("| sl+a=2.0", "sl")} <= compared


def test_a_scale_that_lies_in_the_folder_of_the_evidence_is_known(tmp_path):
    scale = (ROOT / "docs" / "evidence" / "demo" / "demo_seeds.yaml").read_text()
    (tmp_path / "evidence").mkdir()
    (tmp_path / "evidence" / "demo_seeds.yaml").write_text(scale)
    assert make(finished_scale(tmp_path / "demo_seeds"), tmp_path / "evidence").returncode == 0
    assert "| Fashion-MNIST: size | 28×28 | 9×9 |" in (tmp_path / "evidence" / "reductions.md").read_text()


def test_of_an_unfinished_scale_the_finished_runs_are_kept_with_their_intervals(tmp_path):
    """Two methods with three seeds each and a run without a result; the interval is Student's t by hand."""
    gaps = {"cce": [70.0, 71.0, 69.0], "war_w2v": [74.0, 74.0, 74.0]}
    for method, numbers in gaps.items():
        for seed, number in enumerate(numbers):
            folder = tmp_path / "results/runs/fashion_mnist/asym-40/cnn9" / method / f"seed{seed}"
            folder.mkdir(parents=True)
            rows = "\n".join(f"{epoch},{number},1.0" for epoch in range(1, 13))
            (folder / "metrics.csv").write_text(f"epoch,test_accuracy,seconds\n{rows}\n")
            (folder / "result.json").write_text('{"data": "real"}')
    (tmp_path / "results/runs/fashion_mnist/asym-40/cnn9/ar/seed0").mkdir(parents=True)
    result = make(tmp_path / "results", tmp_path / "evidence", "--unfinished", "--no-times")
    assert result.returncode == 0, result.stderr
    table = pd.read_csv(tmp_path / "evidence" / "summary.csv").set_index("method")
    assert table["seeds"].to_dict() == {"war_w2v": 3, "cce": 3}
    reach = stats.t.ppf(0.975, 2) * np.std([4, 3, 5], ddof=1) / np.sqrt(3)
    assert table.loc["war_w2v", "interval"] == f"{4 - reach:+.2f} to {4 + reach:+.2f}"
    assert table.loc["war_w2v", "interval_from"] == "3 seeds, Student's t"
    assert not (tmp_path / "evidence" / "learning_curves.png").exists()


def kept_files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def scale_with(folder: Path, runs: dict[tuple[str, int], float]) -> Path:
    for (method, seed), accuracy in runs.items():
        write_run(folder, method, seed, accuracy, [0, 1, 2][: seed + 1])
    write_arrays(folder / "data" / "fashion_mnist.npz", test_y=np.zeros(10, np.uint8))
    return folder


RUNS = {
    ("cce", 0): 70.0,
    ("cce", 1): 71.1,
    ("war_w2v", 0): 74.2,
    ("war_w2v", 1): 75.3,
    ("ar", 0): 72.4,
    ("ar", 1): 73.5,
}


def test_runs_of_several_folders_are_added_to_what_one_folder_would_have_given(tmp_path):
    """In any order, also where a run is in two of the folders."""
    parts = [("cce", 0), ("war_w2v", 1)], [("ar", 0), ("war_w2v", 1), ("cce", 1)], [("war_w2v", 0), ("ar", 1)]
    folders = [scale_with(tmp_path / f"part{n}", {run: RUNS[run] for run in part}) for n, part in enumerate(parts)]
    assert make(scale_with(tmp_path / "all", RUNS), tmp_path / "whole", "--unfinished").returncode == 0
    assert make(folders[0], tmp_path / "evidence", "--unfinished").returncode == 0
    (tmp_path / "evidence" / "README.md").write_text("by hand")
    for folder in folders[1:]:
        result = make(folder, tmp_path / "evidence", "--add")
        assert result.returncode == 0, result.stderr
    found = kept_files(tmp_path / "evidence")
    assert found.pop("README.md") == b"by hand"
    whole = kept_files(tmp_path / "whole")
    arrays = [read_predictions([tmp_path / name / "test_predictions.npz"]) for name in ("evidence", "whole")]
    assert arrays[0].keys() == arrays[1].keys() and len(arrays[0]) == len(RUNS) + 1
    assert all(np.array_equal(arrays[0][name], arrays[1][name]) for name in arrays[0])
    del found["test_predictions.npz"], whole["test_predictions.npz"]  # the same arrays, in the order of adding
    assert found == whole and set(found) == {"runs.csv", "summary.csv", "summary.md"}


def test_what_is_kept_stays_as_it_is_when_runs_are_added(tmp_path):
    """Every digit of it, and no times if it has none."""
    scale = scale_with(tmp_path / "first", {("cce", 0): 70.0})
    metrics = scale / "runs/fashion_mnist/asym-40/cnn9/cce/seed0/metrics.csv"
    metrics.write_text("epoch,test_accuracy,seconds\n1,67.27499999999999,5\n2,70.72500000000001,5\n")
    assert make(scale, tmp_path / "evidence", "--unfinished", "--no-times").returncode == 0
    before = (tmp_path / "evidence" / "runs.csv").read_text().splitlines()
    more = scale_with(tmp_path / "more", {("ar", 0): 72.0})
    metrics = more / "runs/fashion_mnist/asym-40/cnn9/ar/seed0/metrics.csv"
    metrics.write_text("epoch,test_accuracy,seconds\n1,71,5\n2,72,5\n")
    assert make(more, tmp_path / "evidence", "--add").returncode == 0
    after = (tmp_path / "evidence" / "runs.csv").read_text().splitlines()
    assert [after[0], *after[3:]] == before and [row.split(",")[3] for row in after[1:3]] == ["ar", "ar"]


@pytest.mark.parametrize("change", ["accuracy", "epochs", "data", "predictions"])
def test_a_run_with_other_numbers_is_refused_and_nothing_is_written(tmp_path, change):
    assert make(scale_with(tmp_path / "first", RUNS), tmp_path / "evidence", "--unfinished").returncode == 0
    before = kept_files(tmp_path / "evidence")
    other = scale_with(tmp_path / "other", {("cce", 1): RUNS["cce", 1], ("gce", 0): 70.0})
    folder = other / "runs/fashion_mnist/asym-40/cnn9/cce/seed1"
    metrics = (folder / "metrics.csv").read_text()
    if change == "accuracy":
        (folder / "metrics.csv").write_text(metrics.replace("12,71.1", "12,71.2"))
    elif change == "epochs":
        (folder / "metrics.csv").write_text(metrics.replace("12,71.1\n", ""))
    elif change == "data":
        (folder / "result.json").write_text('{"data": "stand-in"}')
    else:
        write_arrays(folder / "test_predictions.npz", predictions=np.ones((1, 1, 10), np.uint8))
    result = make(other, tmp_path / "evidence", "--add")
    assert result.returncode == 1 and "fashion_mnist/asym-40/cnn9/cce/seed1" in result.stderr
    assert "find out which one is right" in result.stderr and len(result.stderr.splitlines()) == 1
    assert kept_files(tmp_path / "evidence") == before


def test_runs_are_added_only_to_evidence(tmp_path):
    result = make(scale_with(tmp_path / "results", RUNS), tmp_path / "evidence", "--add")
    assert result.returncode == 1 and "evidence/runs.csv" in result.stderr and "Traceback" not in result.stderr
    assert not (tmp_path / "evidence").exists()
