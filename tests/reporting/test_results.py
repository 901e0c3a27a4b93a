"""From runs to summaries, and the paper's numbers."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.helpers.reports import PUBLISHED, cell, make_run, no_published, runs_table
from warlab.errors import WarlabError
from warlab.reporting.read import results
from warlab.reporting.tables import results_table


def test_published_numbers_are_all_there_as_printed() -> None:
    raw = pd.read_csv(PUBLISHED, dtype=str, keep_default_na=False)
    assert list(raw.columns) == list(results.PUBLISHED)
    counts = {"main_benchmark": 132, "ar_war_variants": 36, "beta_sensitivity": 20, "clothing1m": 12}
    counts |= {
        "vaihingen": 42,
        "open_set": 12,
        "coteaching_plus": 14,
        "timing": 6,
    }  # its two purities stand for both noises
    assert raw["experiment"].value_counts().to_dict() == counts
    assert len(raw) == 274
    assert not raw.duplicated([*results.PUBLISHED[:6], "note"]).any()
    assert raw["mean"].str.fullmatch(r"\d+(\.\d+)?").all()


@pytest.mark.parametrize(
    ("key", "mean", "std"),
    [
        ("main_benchmark,fashion_mnist,asym-40,cnn9,cce,test_accuracy", "78.85", "0.56"),
        ("main_benchmark,all,noisy,cnn9,war_w2v,average_rank", "1.0", ""),
        ("ar_war_variants,fashion_mnist,asym-40,cnn9,war_embed,test_accuracy", "90.20", "0.36"),
        ("beta_sensitivity,cifar10,asym-40,cnn9,war_w2v+beta=20,test_accuracy", "86.73", "0.20"),
        ("open_set,cifar10,openset_svhn-40,cnn6,war_w2v,test_accuracy", "82.03", ""),
        ("vaihingen,vaihingen,objects-33,unet,coteaching,f1_cars", "26.6", ""),
        ("coteaching_plus,cifar10,asym-40,cnn2,coteaching,test_accuracy", "56", ""),
        ("timing,imagenet32,clean,cnn9,war_01,seconds_per_epoch", "1712", ""),
    ],
)
def test_published_cells(key: str, mean: str, std: str) -> None:
    raw = pd.read_csv(PUBLISHED, dtype=str, keep_default_na=False).set_index(list(results.PUBLISHED[:6]))
    row = raw.loc[[tuple(key.split(","))]]
    assert row[["mean", "std"]].to_numpy().tolist() == [[mean, std]]


def test_published_prefers_the_experiment_and_the_authors_own_run() -> None:
    cells = [cell("cifar10", "asym-40", "coteaching"), cell("cifar10", "asym-40", "cce")]
    cells.append({**cell("clothing1m", "real", "cce"), "net": "resnet50"})
    nothing = pd.DataFrame(columns=list(results.SUMMARY))

    def published(experiment: str) -> list[float]:
        return results_table.tidy(nothing, cells, results.read_published(PUBLISHED, experiment))["published"].tolist()

    assert published("coteaching_plus") == [80, 76.23, 68.65]
    assert published("main_benchmark") == [80.87, 76.23, 68.65]


# ---- runs


def test_collect_reads_the_declared_runs(tmp_path: Path) -> None:
    folders = [
        make_run(tmp_path, [50.0, 60.0], "cce"),
        make_run(tmp_path, [70.0], "war_w2v+beta=5", 2, "stand-in"),
    ]
    extra = pd.read_csv(folders[1] / "metrics.csv").assign(regulariser=0.5)
    extra.to_csv(folders[1] / "metrics.csv", index=False)
    runs = results.collect(folders)
    assert list(runs.columns) == [*results.RUN, "epoch", "test_accuracy", "peak_memory_mb", "regulariser"]
    assert runs["method"].tolist() == ["cce", "cce", "war_w2v+beta=5"]
    assert runs["seed"].tolist() == [0, 0, 2]
    assert runs["data"].tolist() == ["real", "real", "stand-in"]
    assert runs["regulariser"].isna().tolist() == [True, True, False]
    runs.to_csv(tmp_path / "runs.csv", index=False)
    assert "cce,0,real,1,50.0," in (tmp_path / "runs.csv").read_text()
    pd.testing.assert_frame_equal(results.read_runs(tmp_path / "runs.csv"), runs, check_dtype=False)


def test_a_missing_run_is_named_or_becomes_a_gap(tmp_path: Path) -> None:
    present = make_run(tmp_path, [50.0, 60.0], seed=0)
    absent = present.with_name("seed1")
    with pytest.raises(WarlabError, match="cce/seed1"):
        results.collect([present, absent])
    declared = [["fashion_mnist", "asym-40", "cnn9", "cce", seed] for seed in range(2)]
    runs = results.select_declared(results.collect([present]), declared)
    assert runs["epoch"].isna().tolist() == [False, False, True]
    runs.to_csv(tmp_path / "runs.csv", index=False)
    again = results.read_runs(tmp_path / "runs.csv")
    summary = results.summarise(again).iloc[0]
    assert np.isnan(summary["mean"])  # never the average of what happens to be there
    assert summary["seeds"] == 1
    row = results_table.tidy(results.summarise(again), [cell("fashion_mnist", "asym-40", "cce")], no_published()).iloc[
        0
    ]
    assert np.isnan(row["mean"])
    assert row["data"] == ""


@pytest.mark.parametrize(
    ("break_it", "says"),
    [
        (lambda folder: (folder / "result.json").unlink(), "result.json"),
        (lambda folder: (folder / "result.json").write_text("{}"), "real or stand-in"),
        (lambda folder: (folder / "metrics.csv").write_text("epoch,loss\n1,2\n"), "test_accuracy"),
        (lambda folder: (folder / "metrics.csv").write_text("epoch,test_accuracy\n"), "no epoch"),
        (lambda folder: (folder / "metrics.csv").write_text(""), "cannot be read"),
    ],
)
def test_a_broken_run_is_named(tmp_path: Path, break_it: Any, says: str) -> None:
    folder = make_run(tmp_path, [50.0])
    break_it(folder)
    with pytest.raises(WarlabError, match=says):
        results.collect([folder])


def test_runs_csv_needs_its_columns(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("dataset,noise\na,b\n")
    with pytest.raises(WarlabError, match="'net'"):
        results.read_runs(tmp_path / "runs.csv")
    with pytest.raises(WarlabError, match="not a run folder"):
        results.collect([tmp_path / "x"])
    with pytest.raises(WarlabError, match="no runs"):
        results.collect([])


# ---- summaries, computed by hand


def test_summary_of_two_runs() -> None:
    first = [0.0] * 5 + [80.0, 82.0] * 5  # mean 81, std 1 (ddof 0) over the last ten
    second = [0.0] * 5 + [84.0, 90.0] * 5  # mean 87, std 3
    row = results.summarise(runs_table({("cce", 0): first, ("cce", 1): second})).iloc[0]
    assert row["mean"] == pytest.approx(84.0)
    assert row["std_epochs"] == pytest.approx(2.0)
    assert row["std_runs"] == pytest.approx(6 / np.sqrt(2))  # 81 and 87, ddof 1
    assert row["seeds"] == 2
    assert row["data"] == "real"
    assert row["metric"] == "test_accuracy"


def test_summary_of_a_short_single_run_in_any_order() -> None:
    runs = runs_table({("cce", 0): [10.0, 20.0, 60.0]}).iloc[::-1]
    row = results.summarise(runs).iloc[0]
    assert row["mean"] == pytest.approx(30.0)
    assert row["std_epochs"] == pytest.approx(np.std([10, 20, 60]))
    assert np.isnan(row["std_runs"])
    assert results.summarise(runs, last=1).iloc[0]["mean"] == 60.0  # by epoch, not by position
    assert results.epochs_averaged(runs) == {("fashion_mnist", "asym-40", "cnn9", "cce"): 3}
    assert set(results.epochs_averaged(runs, last=2).values()) == {2}
    untested = runs_table({("cce", 0): [10.0, np.nan, 60.0]})
    means = [results.summarise(untested, last=last).iloc[0]["mean"] for last in (3, 1)]
    assert np.isnan(means[0]) and means[1] == 60.0  # no mean of the epochs that happen to have a number


def test_summary_of_any_metric_and_of_mixed_data() -> None:
    runs = runs_table({("cce", 0): [50.0], ("cce", 1): [60.0], ("ar", 0): [70.0]}).assign(f1_cars=7.0)
    runs.loc[1, "data"] = "stand-in"
    summary = results.summarise(runs, metrics=("test_accuracy", "f1_cars"))
    assert summary[["method", "metric", "mean", "data"]].to_numpy().tolist() == [
        ["cce", "test_accuracy", 55.0, "stand-in"],
        ["cce", "f1_cars", 7.0, "stand-in"],
        ["ar", "test_accuracy", 70.0, "real"],
        ["ar", "f1_cars", 7.0, "real"],
    ]
    with pytest.raises(WarlabError, match="'nothing'"):
        results.summarise(runs, metrics=("nothing",))


# ---- runs from elsewhere, and a run once more


def test_given_runs_become_the_declared_ones_and_gaps() -> None:
    runs = runs_table({("cce", 0): [50.0, 60.0], ("other", 0): [1.0, 2.0]}).astype({"epoch": "Int64"})
    cell = ["fashion_mnist", "asym-40", "cnn9"]
    chosen = results.select(runs, [[*cell, "cce", 0], [*cell, "ar", 0]])
    assert list(chosen.columns) == list(runs.columns) and chosen["method"].tolist() == ["cce", "cce", "ar"]
    summary = results.summarise(chosen).set_index("method")
    assert (
        summary.loc["cce", "mean"] == 55.0 and np.isnan(summary.loc["ar", "mean"]) and summary.loc["ar", "seeds"] == 0
    )
    with pytest.raises(WarlabError, match="None of the given runs"):
        results.select(runs, [[*cell, "ar", 0]])


def test_a_run_once_more_is_compared_epoch_by_epoch(tmp_path: Path) -> None:
    runs = runs_table({("cce", 0): [50.0, 60.0]})
    metrics, run = tmp_path / "metrics.csv", "fashion_mnist/asym-40/cnn9/cce/seed0"
    for second, expected in ((60.0, "the same in every epoch"), (61.5, "at most 1.50 points apart")):
        metrics.write_text(f"epoch,test_accuracy\n1,50.0\n2,{second}\n")
        assert expected in results.compare_retrained(runs, metrics, run)["sentence"]
    metrics.write_text("epoch,test_accuracy\n1,50.0\n2,70.0\n")
    with pytest.raises(WarlabError, match=r"reported at 55.00 % and reached 60.00 %"):
        results.compare_retrained(runs, metrics, run)
    metrics.write_text("epoch,test_accuracy\n1,50.0\n")
    with pytest.raises(WarlabError, match="2 epochs and was trained again with 1"):
        results.compare_retrained(runs, metrics, run)
    with pytest.raises(WarlabError, match="not among the reported"):
        results.compare_retrained(runs, metrics, run.replace("cce", "ar"))
