"""Statistics: known values of every test, and what they say where there is too little."""

import math

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from tests.helpers.reports import LABELS, PUBLISHED, no_published, runs_table
from warlab.reporting import stats
from warlab.reporting.read import results
from warlab.reporting.read.numbers import Number
from warlab.reporting.tables import statistics_table


def order(means: dict[str, float]) -> dict[str, Number]:
    return {method: Number(mean) for method, mean in means.items()}


def test_kendall_of_equal_reversed_and_one_swapped_order() -> None:
    paper = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}
    assert stats.kendall(order(paper), paper).value == pytest.approx(1)
    assert stats.kendall(order({m: -v for m, v in paper.items()}), paper).value == pytest.approx(-1)
    # b and a change places: 5 pairs in order, 1 against it, of 6
    row = stats.kendall(order({**paper, "a": 2.5}), paper)
    assert row.value == pytest.approx(4 / 6) and row.cells == 4 and 0 < row.p_value <= 1 and row.note == ""


def test_kendall_takes_the_common_methods_and_refuses_too_few() -> None:
    row = stats.kendall(order({"a": 1.0, "b": 2.0, "own": 9.0}), {"a": 1.0, "b": 2.0, "c": math.nan})
    assert math.isnan(row.value) and math.isnan(row.p_value) and row.cells == 2 and "only 2 methods" in row.note
    assert "no order" in stats.kendall(order({"a": 1, "b": 1, "c": 1}), {"a": 1, "b": 2, "c": 3}).note


def test_kendall_is_unsure_with_three_seeds_that_disagree() -> None:
    """A bootstrap of three seeds could not draw an order that none of them has; Student's t can."""
    seeds = {"a": [70.0, 70.1, 69.9], "b": [72.0, 71.0, 73.0], "c": [71.9, 71.5, 72.3], "d": [72.1, 70.5, 73.5]}
    numbers = {m: Number(float(np.mean(v)), by_seed=dict(enumerate(v))) for m, v in seeds.items()}
    row = stats.kendall(numbers, {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0})
    assert row.p_value > 0.05 and row.low <= 0 < row.high


def test_many_taus_at_once_are_those_of_scipy() -> None:
    generator = np.random.default_rng(0)
    ours, paper = generator.integers(0, 5, (20, 8)).astype(float), generator.normal(size=8)
    expected = [scipy.stats.kendalltau(row, paper).statistic for row in ours]  # with ties: tau-b
    assert stats.taus(ours, paper.tolist()) == pytest.approx(expected)


def test_holm_on_a_worked_example() -> None:
    assert stats.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


# ---- readings


def test_readings_of_a_run() -> None:
    runs = runs_table({("cce", 0): [10.0, 90.0, 50.0, 40.0], ("ar", 0): [1.0, 2.0, 3.0, 4.0]})
    runs["validation_accuracy"] = [1.0, 2.0, 9.0, 9.0, *[np.nan] * 4]
    shuffled = runs.sample(frac=1, random_state=0)
    first, second = results.readings(shuffled, last=2).sort_values("method").to_dict("records")
    assert (first["method"], second["method"]) == ("ar", "cce")
    assert [second[name] for name in results.READINGS] == [45.0, 40.0, 50.0, 90.0]
    assert math.isnan(first["best_by_noisy_validation"]) and first["best_on_test_diagnostic"] == 4.0
    # a validation set with clean labels is not a noisy one
    clean = runs.rename(columns={"validation_accuracy": "val_accuracy"})
    assert math.isnan(results.readings(clean)["best_by_noisy_validation"][0])


def test_the_paper_reads_ten_epochs_and_a_missing_run_has_no_reading() -> None:
    runs = runs_table({("cce", 0): [0.0, 100.0, *[50.0] * 9]})
    gap = runs.head(1).assign(method="ar", epoch=None, test_accuracy=np.nan)
    assert results.readings(pd.concat([runs, gap]))[["method", "last10_mean"]].to_numpy().tolist() == [["cce", 55.0]]


def test_tiles_are_read_in_the_metric_of_their_table() -> None:
    values = {"cce": [10.0, 90.0], "ar": [1.0, 2.0]}
    runs = runs_table({(method, seed): series for seed in range(3) for method, series in values.items()})
    runs = runs.assign(f1_average=[30.0, 40.0, 50.0, 70.0] * 3)
    images = runs_table({("cce", 0): [10.0, 90.0]}).assign(dataset="cifar10")
    f1 = results.readings(pd.concat([runs, images]), metric="f1_average")
    assert f1["last10_mean"].tolist() == [35.0, 60.0] * 3 and set(f1["metric"]) == {"f1_average"}
    per_run = results.all_readings(runs, ["f1_average"])
    assert set(per_run["metric"]) == {"test_accuracy", "f1_average"}
    table = statistics_table.statistics(
        per_run, {"x": experiment(["cce", "ar"]) | {"metric": "f1_average"}}, no_published()
    )
    (tested,) = table[(table["test"] == "paired_t") & (table["reading"] == "last10_mean")].itertuples()
    assert (tested.subject, tested.against, tested.value) == ("ar", "cce", 25.0)


# ---- as a table


def experiment(methods: list[str], noises: tuple[str, ...] = ("asym-40",)) -> dict:
    cells = [("fashion_mnist", noise, "cnn9", method) for noise in noises for method in methods]
    return {"cells": cells, "title": "Variants"}


THREE = ["cce", "ar", "war_w2v"]


def three_methods(seeds: int) -> pd.DataFrame:
    level = {"cce": 70.0, "ar": 75.0, "war_w2v": 80.0}
    return runs_table({(m, s): [v + s] for m, v in level.items() for s in range(seeds)})


def test_statistics_of_seeds_in_one_setting() -> None:
    generator = np.random.default_rng(0)
    values = {
        "cce": generator.normal(70, 1, 5),
        "ar": generator.normal(75, 1, 5),
        "war_w2v": generator.normal(80, 1, 5),
    }
    runs = runs_table({(m, s): [float(v)] for m, numbers in values.items() for s, v in enumerate(numbers)})
    table = statistics_table.statistics(
        results.readings(runs), {"x": experiment(THREE)}, results.read_published(PUBLISHED)
    )
    first = table[table["reading"] == "last10_mean"].set_index("test")
    assert first.loc["kendall", "value"] == pytest.approx(1)  # the paper: CCE 78.85 < AR 89.74 < WAR_w2v 90.41
    interval = first.loc["interval"].iloc[0]
    assert interval["subject"] == "fashion_mnist asym-40 cnn9 cce"
    assert interval["low"] < values["cce"].mean() < interval["high"]
    paired = first.loc["paired_t"].set_index(["subject", "against"])
    pairs = [("ar", "cce"), ("war_w2v", "cce"), ("war_w2v", "ar")]
    p_values = [scipy.stats.ttest_rel(values[one], values[two]).pvalue for one, two in pairs]
    assert list(paired.index) == pairs and set(paired["cells"]) == {5}
    assert paired["p_value"].tolist() == pytest.approx(stats.holm(p_values))
    text = statistics_table.to_markdown(table, {"x": "Variants"}, LABELS)
    assert "Kendall's τ = +1.00" in text and text.count("| 5 seeds |") == 6 and "1 settings" not in text
    assert "| AR | CCE | paired t over seeds | 5 seeds | +" in text
    assert text.count("need the test predictions") == 1 and "stand-in" not in text
    assert "stand-in data; says nothing" in statistics_table.to_markdown(table.assign(data="stand-in"), {}, LABELS)


def test_what_is_missing_is_said_once() -> None:
    per_run = results.readings(three_methods(1)).assign(data="stand-in")
    spec = experiment(["cce", "war_w2v"])
    table = statistics_table.statistics(per_run, {"x": spec, "y": spec}, results.read_published(PUBLISHED))
    assert table["p_value"].isna().all()
    text = statistics_table.to_markdown(table, {"x": "First", "y": "Second"}, LABELS)
    missing = text.split("## Not computed")[1].strip().splitlines()
    assert len(missing) == 3 and all(line.endswith(": First, Second.") for line in missing)
    for need in ("need 3 seeds", "need the test predictions", "only 2 methods"):
        assert text.count(need) == 1
    assert len(statistics_table.page_notes(table, LABELS)) == 3
