"""Committed evidence: what tools/make_evidence.py writes, and the one line of it that the report shows."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy import stats

from tests.conftest import ROOT
from tests.helpers.reports import LABELS, runs_table
from warlab.common.files import write_arrays
from warlab.config.reductions import reductions
from warlab.config.study import load_study
from warlab.errors import WarlabError
from warlab.reporting.page.context import CommittedEvidence, Context
from warlab.reporting.page.curves import make_panels
from warlab.reporting.page.report_page import render
from warlab.reporting.read.predictions import read_predictions
from warlab.reporting.read.results import read_runs

FOLDERS = sorted(path.parent for path in (ROOT / "docs" / "evidence").glob("*/evidence.json"))


def load_tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_evidence", ROOT / "tools" / "make_evidence.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


def make(*folders: Path, no_times: bool = False) -> dict[str, bytes]:
    """Write the evidence of all folders but the last into the last one, and return its files."""
    load_tool().write_evidence(folders[:-1], folders[-1], no_times)
    return read_files(folders[-1])


def write_run(scale: Path, method: str, seed: int, accuracy: float, right: list[int]) -> None:
    """Write a finished run whose predictions are right for these of ten test images; their true class is 0."""
    folder = scale / "runs/fashion_mnist/asym-40/cnn9" / method / f"seed{seed}"
    folder.mkdir(parents=True)
    rows = "\n".join(f"{epoch},{accuracy},5" for epoch in range(1, 13))
    (folder / "metrics.csv").write_text(f"epoch,test_accuracy,seconds\n{rows}\n")
    (folder / "result.json").write_text('{"data": "real", "provenance": {"git": "abc"}}')
    predicted = np.array([[[0 if image in right else 1 for image in range(10)]]], np.uint8)
    write_arrays(folder / "test_predictions.npz", predictions=predicted)


RUNS = {
    ("cce", 0): 70.0,
    ("cce", 1): 71.1,
    ("war_w2v", 0): 74.2,
    ("war_w2v", 1): 75.3,
    ("ar", 0): 72.4,
    ("ar", 1): 73.5,
}


def write_results(folder: Path, runs: dict[tuple[str, int], float]) -> Path:
    """Write the results folder of a study; a run without a result is not finished."""
    for (method, seed), accuracy in runs.items():
        write_run(folder, method, seed, accuracy, [0, 1, 2][: seed + 1])
    (folder / "runs/fashion_mnist/asym-40/cnn9/jof/seed0").mkdir(parents=True)
    write_arrays(folder / "data" / "fashion_mnist.npz", test_y=np.zeros(10, np.uint8))
    return folder


def read_files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_evidence_has_the_runs_predictions_origin_and_a_summary(tmp_path):
    values = {"cce": [70.0, 71.0, 69.0], "war_w2v": [74.0, 74.0, 75.0], "war_w2v+epsilon=0": [75.0, 75.0, 78.0]}
    runs = {(method, seed): value for method, numbers in values.items() for seed, value in enumerate(numbers)}
    files = make(write_results(tmp_path / "sixteenth", runs), tmp_path / "evidence", no_times=True)
    assert set(files) == {"runs.csv", "test_predictions.npz", "evidence.json", "summary.md"}
    table = read_runs(tmp_path / "evidence" / "runs.csv")
    assert "seconds" not in table and set(table["method"]) == set(values)
    kept = read_predictions([tmp_path / "evidence" / "test_predictions.npz"])
    assert len(kept) == len(runs) + 1 and kept["labels/fashion_mnist"].tolist() == [0] * 10
    about = json.loads(files["evidence.json"])
    assert (about["scale"], about["seeds"], about["commits"]) == ("sixteenth", [0, 1, 2], ["abc"])
    assert about["command"].endswith("scale=sixteenth") and about["what"]
    summary = files["summary.md"].decode()
    reach = stats.t.ppf(0.975, 2) * np.std([1, 1, 3], ddof=1) / np.sqrt(3)
    interval = f"−{reach - 5 / 3:.2f} to +{5 / 3 + reach:.2f}"
    variant = "WAR<sub>w2v</sub>, ε = 0"
    assert f"| {variant} | WAR<sub>w2v</sub> | +1.67 | {interval} | 3 seeds, Student's t |" in summary
    assert "| Fashion-MNIST: train images | 60000 | 3750 |" in summary


def test_methods_with_three_seeds_are_ranked_against_cce(tmp_path):
    """Ranks of methods that are sure to differ have no width; those that change places between seeds share theirs."""
    values = {
        "cce": [70, 71, 72],
        "ar": [75.1, 76, 77],
        "gce": [75, 76.2, 76.8],
        "sl": [60, 61.1, 62],
        "d2l": [71, 72, 73],
    }
    runs = {(method, seed): value for method, numbers in values.items() for seed, value in enumerate(numbers)}
    rows = write_results(tmp_path / "sixteenth", runs | {("tv", 0): 99.0})
    for file in rows.glob("runs/*/*/*/*/*/metrics.csv"):
        head, *lines = file.read_text().splitlines()
        twice = "/sl/" in str(file)
        file.write_text("\n".join([head + ",processor_seconds", *(f"{line},{4 if twice else 2}" for line in lines)]))
    summary = make(rows, tmp_path / "evidence")["summary.md"].decode()
    ranking = [line for line in summary.splitlines() if re.search(r" to \d+ \|", line)]
    cells = {line.split(" | ")[0].strip("| "): line.split(" | ")[1:] for line in ranking}
    assert list(cells)[2:] == ["D2L", "CCE", "SL"] and "TV" not in cells
    assert {cells[name][1] for name in ("AR", "GCE")} == {"1 to 2"} and cells["CCE"][1] == "4 to 4"
    p = stats.ttest_1samp([5.1, 5, 5], 0).pvalue
    assert cells["AR"][2].startswith("+5.0 (+4.9 to +5.2") and float(cells["AR"][3]) == round(3 * p, 3)
    assert (cells["AR"][4], cells["SL"][4], cells["D2L"][4]) == ("better", "worse", "not distinguished")
    assert cells["SL"][5].startswith("2.0") and cells["CCE"][2:5] == ["", "", ""]
    assert "Not ranked, because they lack some of these seeds: TV.\n" in summary
    # A fourth seed of some methods does not end the ranking, and does not move the means that are compared.
    more = write_results(tmp_path / "more" / "sixteenth", {("cce", 3): 90.0, ("ar", 3): 20.0})
    longer = make(tmp_path / "evidence", more, tmp_path / "evidence", no_times=True)["summary.md"].decode()
    now = [line for line in longer.splitlines() if re.search(r" to \d+ \|", line)]
    assert [line.split(" | ")[:5] for line in now] == [line.split(" | ")[:5] for line in ranking]


def test_runs_of_several_folders_are_joined_as_one_folder_would_have_given_them(tmp_path):
    """Also where a run is in two of the folders; README.md is written by hand and stays."""
    parts = [("cce", 0), ("war_w2v", 1)], [("ar", 0), ("war_w2v", 1), ("cce", 1)], [("war_w2v", 0), ("ar", 1)]
    folders = [
        write_results(tmp_path / str(n) / "sixteenth", {run: RUNS[run] for run in part}) for n, part in enumerate(parts)
    ]
    whole = make(write_results(tmp_path / "sixteenth", RUNS), tmp_path / "whole")
    evidence = tmp_path / "evidence"
    make(folders[0], evidence)
    (evidence / "README.md").write_text("by hand")
    files = make(evidence, *folders[1:], evidence)
    assert files.pop("README.md") == b"by hand"
    arrays = [read_predictions([tmp_path / name / "test_predictions.npz"]) for name in ("evidence", "whole")]
    assert arrays[0].keys() == arrays[1].keys() and len(arrays[0]) == len(RUNS) + 1
    assert all(np.array_equal(arrays[0][name], arrays[1][name]) for name in arrays[0])
    del files["test_predictions.npz"], whole["test_predictions.npz"]  # the same arrays in another order
    assert files == whole


@pytest.mark.parametrize("change", ["accuracy", "epochs", "data", "predictions"])
def test_a_run_with_different_numbers_is_refused_and_nothing_is_written(tmp_path, change):
    evidence = tmp_path / "evidence"
    before = make(write_results(tmp_path / "sixteenth", RUNS), evidence)
    other = write_results(tmp_path / "other" / "sixteenth", {("cce", 1): RUNS["cce", 1], ("gce", 0): 70.0})
    folder = other / "runs/fashion_mnist/asym-40/cnn9/cce/seed1"
    metrics = (folder / "metrics.csv").read_text()
    if change == "accuracy":
        (folder / "metrics.csv").write_text(metrics.replace("12,71.1", "12,71.2"))
    elif change == "epochs":
        (folder / "metrics.csv").write_text(metrics.replace("12,71.1,5\n", ""))
    elif change == "data":
        (folder / "result.json").write_text('{"data": "stand-in"}')
    else:
        write_arrays(folder / "test_predictions.npz", predictions=np.ones((1, 1, 10), np.uint8))
    with pytest.raises(WarlabError, match=r"fashion_mnist/asym-40/cnn9/cce/seed1 has different.*delete the wrong one"):
        make(evidence, other, evidence)
    assert read_files(evidence) == before


def test_an_error_is_one_line(tmp_path):
    command = [sys.executable, ROOT / "tools" / "make_evidence.py", tmp_path / "sixteenth", tmp_path / "evidence"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1 and "sixteenth/runs.csv" in done.stderr
    assert not (tmp_path / "evidence").exists()


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_summary_of_the_committed_evidence_is_what_the_tool_writes(folder, tmp_path):
    """Every digit of its runs stays as well."""
    shutil.copytree(folder, tmp_path / folder.name)
    files = make(tmp_path / folder.name, tmp_path / folder.name)
    for name in ("runs.csv", "evidence.json", "summary.md"):
        assert files[name] == (folder / name).read_bytes(), name


# ---- the report


def test_the_report_links_to_the_evidence_and_shows_one_line_of_it():
    folder = ROOT / "docs" / "evidence" / "demo"
    files = [folder / name for name in ("evidence.json", "runs.csv", "test_predictions.npz")]
    shown = CommittedEvidence.read(files, {"folder": "docs/evidence/demo", "link": "../../docs/evidence/demo"}, LABELS)
    own = make_panels(runs_table({("cce", 0): [60.0, 66.6], ("ar", 0): [60.0, 67.7]}), LABELS)
    plain, page = (render(Context("demo", labels=LABELS, curves=own, committed=one)) for one in (None, shown))
    (line,) = [line for line in page.splitlines() if line not in plain.splitlines()]
    text = re.sub(r"<[^>]*>", "", line).replace("&nbsp;", " ").replace("&#39;", "'")
    assert '<a href="../../docs/evidence/demo">docs/evidence/demo</a>' in line and "not computed in this run" in text
    assert "WARw2v − CCE = +4.4 points (95 %: +0.1 to +8.6; 3 seeds, Student's t)." in text
    assert CommittedEvidence.read([], {}, LABELS) is None


def test_the_committed_seeds_of_the_demo_have_the_settings_of_the_demo():
    demo = load_study({"scale": "demo"}, ROOT)
    seeds = load_study({"scale": "docs/evidence/demo/demo_seeds.yaml"}, ROOT)
    noisy = {cell.method for cell in demo.plan.runs if (cell.dataset, cell.noise) == ("fashion_mnist", "asym-40")}
    assert {cell.method for cell in seeds.plan.runs} == noisy | {"war_01", "war_embed"}
    assert {cell.seed for cell in seeds.plan.runs} == {0, 1, 2}
    own = [row for row in reductions(demo) if row["what"].startswith("Fashion-MNIST")]
    theirs = [row for row in reductions(seeds) if row["what"].startswith("Fashion-MNIST")]
    assert own == [row for row in theirs if not re.search("WAR_(0-1|embed)", row["what"])]
