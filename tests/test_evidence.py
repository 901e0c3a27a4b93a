"""tools/make_evidence.py: what is kept of a finished scale."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from tests.conftest import ROOT
from warlab.common.files import write_arrays
from warlab.reporting.read.predictions import read_collected
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
    kept = read_collected(tmp_path / "evidence" / "test_predictions.npz")
    assert kept.correct(run).tolist() == [1.0] * 10 and list(kept.predictions) == [run]
    assert "| Fashion-MNIST, cnn9: dropout | 0.25 | 0.125 |" in (tmp_path / "evidence" / "reductions.md").read_text()


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
