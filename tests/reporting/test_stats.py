"""Statistics: known values of every test, and what they say where there is too little."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.reports import LABELS, PUBLISHED, no_published, runs_table
from warlab.reporting.read import results
from warlab.reporting.stats import comparison, comparison_text, over_settings, pairs
from warlab.reporting.stats.intervals import Number
from warlab.reporting.stats.over_settings import Statistic


def test_kendall_of_equal_reversed_and_one_swapped_order() -> None:
    paper = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}
    assert over_settings.kendall(paper, paper).value == pytest.approx(1)
    assert over_settings.kendall({m: -v for m, v in paper.items()}, paper).value == pytest.approx(-1)
    swapped = {**paper, "a": 2.5}  # b and a change places: 5 pairs in order, 1 against it, of 6
    found = over_settings.kendall(swapped, paper)
    assert found.value == pytest.approx(4 / 6) and found.cells == 4 and 0 < found.p_value <= 1 and found.note == ""


def test_kendall_takes_the_common_methods_and_refuses_too_few() -> None:
    found = over_settings.kendall({"a": 1.0, "b": 2.0, "own": 9.0}, {"a": 1.0, "b": 2.0, "c": math.nan})
    assert math.isnan(found.value) and math.isnan(found.p_value) and found.cells == 2 and "only 2 methods" in found.note
    assert "no order" in over_settings.kendall({"a": 1, "b": 1, "c": 1}, {"a": 1, "b": 2, "c": 3}).note


def test_readings_of_a_run() -> None:
    runs = runs_table({("cce", 0): [10.0, 90.0, 50.0, 40.0], ("ar", 0): [1.0, 2.0, 3.0, 4.0]})
    runs["validation_accuracy"] = [1.0, 2.0, 9.0, 9.0, *[np.nan] * 4]
    first, second = (
        over_settings.readings(runs.sample(frac=1, random_state=0), last=2).sort_values("method").to_dict("records")
    )
    assert (first["method"], second["method"]) == ("ar", "cce")
    assert [second[name] for name in over_settings.READINGS] == [45.0, 40.0, 50.0, 90.0]
    assert math.isnan(first["best_by_noisy_validation"]) and first["best_on_test_diagnostic"] == 4.0
    assert math.isnan(over_settings.readings(runs.drop(columns="validation_accuracy"))["best_by_noisy_validation"][0])


def test_a_validation_set_with_clean_labels_is_no_noisy_one() -> None:
    runs = runs_table({("cce", 0): [10.0, 90.0]}).assign(val_accuracy=[2.0, 1.0])
    assert math.isnan(over_settings.readings(runs)["best_by_noisy_validation"][0])


def test_tiles_are_read_in_the_metric_of_their_table() -> None:
    runs = runs_table({("cce", 0): [10.0, 90.0]}).assign(f1_average=[30.0, 40.0])
    images = runs_table({("cce", 0): [10.0, 90.0]}).assign(dataset="cifar10")
    found = over_settings.readings(pd.concat([runs, images]), metric="f1_average")
    assert found["last10_mean"].tolist() == [35.0] and found["metric"].tolist() == ["f1_average"]
    spec = experiment(["cce"]) | {"metric": "f1_average"}
    table = comparison.statistics(comparison.all_readings(runs, ["f1_average"]), {"x": spec}, no_published())
    assert comparison.all_readings(runs, ["f1_average"])["metric"].tolist() == ["test_accuracy", "f1_average"]
    rank = over_settings.blocks(
        comparison._shown(comparison.all_readings(runs, ["f1_average"]).assign(run=""), spec), ["cce"]
    )
    assert rank.to_numpy().tolist() == [[35.0]] and set(table["experiment"]) == {"x"}


def test_the_paper_reads_ten_epochs() -> None:
    run = runs_table({("cce", 0): [0.0, 100.0, *[50.0] * 9]})
    assert over_settings.readings(run)["last10_mean"].tolist() == [55.0]


def test_a_missing_run_has_no_reading() -> None:
    runs = runs_table({("cce", 0): [50.0]})
    gap = runs.assign(method="ar", epoch=None, test_accuracy=np.nan)
    assert over_settings.readings(pd.concat([runs, gap]))["method"].tolist() == ["cce"]


def test_many_taus_at_once_are_those_of_scipy() -> None:
    generator = np.random.default_rng(0)
    ours, paper = generator.integers(0, 5, (20, 8)).astype(float), generator.normal(size=8)
    expected = [scipy.stats.kendalltau(row, paper).statistic for row in ours]  # with ties: tau-b
    assert over_settings.taus(ours, paper.tolist()) == pytest.approx(expected)


@pytest.mark.parametrize(("methods", "quantile"), [(2, 1.960), (3, 2.343), (5, 2.728), (10, 3.164)])
def test_critical_difference_has_the_quantiles_of_demsars_table(methods: int, quantile: float) -> None:
    cells = 14
    expected = quantile * math.sqrt(methods * (methods + 1) / (6 * cells))
    assert over_settings.critical_difference(methods, cells) == pytest.approx(expected, rel=1e-3)


def test_holm_on_a_worked_example() -> None:
    assert over_settings.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_never_lowers_a_p_value_and_keeps_the_order(p_values: list[float]) -> None:
    corrected = over_settings.holm(p_values)
    assert all(p <= c <= 1 for p, c in zip(p_values, corrected, strict=True))
    for (p, c), (q, d) in itertools.combinations(zip(p_values, corrected, strict=True), 2):
        assert (p < q) <= (c <= d)


def wide(cells: int, methods: int = 3) -> pd.DataFrame:
    generator = np.random.default_rng(0)
    level = generator.normal(70, 10, (cells, 1))
    numbers = level + 5.0 * np.arange(methods) + generator.normal(0, 1, (cells, methods))
    return pd.DataFrame(numbers, columns=[f"m{k}" for k in range(methods)])


def compared(table: pd.DataFrame) -> dict[tuple[str, str, str], Statistic]:
    """By test, subject and against."""
    return {(row.test, row.subject, row.against): row for row in over_settings.compare(table)}


def test_compare_finds_a_clear_order() -> None:
    found = compared(wide(12))
    ranks = {subject: row.value for (test, subject, _), row in found.items() if test == "average_rank"}
    assert ranks == {"m0": 3.0, "m1": 2.0, "m2": 1.0} and {row.cells for row in found.values()} == {12}
    friedman = found["friedman", "", ""]
    assert friedman.value == pytest.approx(24) and friedman.p_value == pytest.approx(math.exp(-12), rel=1e-6)
    last = found["wilcoxon_holm", "m0", "m2"]
    assert last.value == pytest.approx(-10, abs=1) and last.p_value == pytest.approx(3 / 2**11)
    assert found["nemenyi", "m0", "m2"].p_value < 0.001
    assert found["critical_difference", "", ""].value == pytest.approx(0.957, abs=1e-3)


def test_nemenyi_and_the_critical_difference_say_the_same() -> None:
    table = wide(8, 4)
    found = compared(table + np.random.default_rng(1).normal(0, 6, table.shape))
    critical = found["critical_difference", "", ""].value
    pairs_of = [row for row in found.values() if row.test == "nemenyi"]
    assert len(pairs_of) == 6
    for pair in pairs_of:
        apart = abs(found["average_rank", pair.subject, ""].value - found["average_rank", pair.against, ""].value)
        assert (pair.p_value < 0.05) == (apart > critical)


@pytest.mark.parametrize(("cells", "methods"), [(5, 3), (12, 2), (0, 3)])
def test_compare_says_when_there_is_too_little(cells: int, methods: int) -> None:
    found = compared(wide(cells, methods))
    friedman = found["friedman", "", ""]
    assert math.isnan(friedman.p_value) and "3 methods in 6 settings" in friedman.note and friedman.cells == cells
    assert {test for test, _, _ in found} <= {"friedman", "average_rank"}


def test_blocks_leave_out_incomplete_settings() -> None:
    runs = runs_table({("cce", 0): [50.0], ("ar", 0): [60.0], ("tv", 0): [1.0]})
    found = over_settings.blocks(
        over_settings.readings(pd.concat([runs, runs.head(1).assign(noise="clean")])), ["cce", "ar"]
    )
    assert found.to_numpy().tolist() == [[50.0, 60.0]] and list(found.columns) == ["cce", "ar"]


def test_seeds_of_one_setting_are_one_block() -> None:
    """Six seeds of one setting are no six settings: ranks over settings have one block, and no test."""
    found = over_settings.blocks(over_settings.readings(three_methods(6)), ["cce", "ar", "war_w2v"])
    assert found.to_numpy().tolist() == [[72.5, 77.5, 82.5]]
    assert all(math.isnan(row.p_value) for row in over_settings.compare(found))


# ---- as a table


def experiment(methods: list[str]) -> dict:
    cells = [("fashion_mnist", "asym-40", "cnn9", method) for method in methods]
    return {"cells": cells, "trained_as": [], "title": "Variants"}


def three_methods(seeds: int) -> pd.DataFrame:
    level = {"cce": 70.0, "ar": 75.0, "war_w2v": 80.0}
    return runs_table({(m, s): [v + s] for m, v in level.items() for s in range(seeds)})


def six_settings(seeds: int = 1) -> pd.DataFrame:
    """Three methods in the same order in six settings."""
    return pd.concat([three_methods(seeds).assign(noise=f"asym-{rate}") for rate in range(10, 70, 10)])


def test_statistics_six_settings() -> None:
    cells = [("fashion_mnist", f"asym-{r}", "cnn9", m) for r in range(10, 70, 10) for m in ("cce", "ar", "war_w2v")]
    spec = experiment([]) | {"cells": cells}
    table = comparison.statistics(
        over_settings.readings(six_settings()), {"x": spec}, results.read_published(PUBLISHED)
    )
    assert tuple(table.columns) == Statistic._fields and set(table["reading"]) == {"last10_mean", "last"}
    first = table[table["reading"] == "last10_mean"].set_index("test")
    assert first.loc["friedman", "p_value"] == pytest.approx(math.exp(-6), rel=1e-6)
    text = comparison_text.to_markdown(table, {"x": "Variants"}, LABELS)
    assert "## Variants: mean of the last ten epochs" in text and "WAR<sub>w2v</sub> 1.00" in text
    assert "p = 0.002 over 6 settings" in text


def test_statistics_of_seeds_in_one_setting() -> None:
    table = comparison.statistics(
        over_settings.readings(three_methods(6)),
        {"x": experiment(["cce", "ar", "war_w2v"])},
        results.read_published(PUBLISHED),
    )
    first = table[table["reading"] == "last10_mean"].set_index("test")
    assert math.isnan(first.loc["friedman", "p_value"])
    assert first.loc["friedman_seeds", "p_value"] == pytest.approx(math.exp(-6), rel=1e-6)
    assert first.loc["kendall", "value"] == pytest.approx(1)  # the paper: CCE 78.85 < AR 89.74 < WAR_w2v 90.41
    assert (first.loc["kendall", "low"], first.loc["kendall", "high"]) == pytest.approx((1, 1))
    interval = first.loc["interval"].iloc[0]
    assert interval["subject"] == "fashion_mnist asym-40 cnn9 cce" and interval["low"] < 72.5 < interval["high"]
    paired = first.loc["wilcoxon_seeds"].set_index(["subject", "against"])
    assert paired.loc[("war_w2v", "ar"), ["value", "cells"]].tolist() == [5.0, 6]
    assert paired["p_value"].tolist() == pytest.approx([3 * 2 / 2**6] * 3)  # three pairs, Holm
    text = comparison_text.to_markdown(table, {"x": "Variants"}, LABELS)
    assert "Kendall's τ = +1.00" in text and "| AR | CCE | Wilcoxon over seeds | 6 seeds | +5.00 |  | 0.094 |" in text


def test_five_seeds_of_two_methods_have_a_paired_t_and_a_wilcoxon_test() -> None:
    generator = np.random.default_rng(0)
    values = {"cce": generator.normal(70, 1, 5), "war_w2v": generator.normal(72, 1, 5)}
    runs = runs_table({(m, s): [float(v)] for m, numbers in values.items() for s, v in enumerate(numbers)})
    found = comparison.statistics(over_settings.readings(runs), {"x": experiment(list(values))}, no_published())
    rows = found[(found["reading"] == "last10_mean") & (found["note"] == "")].set_index("test")
    gaps = values["war_w2v"] - values["cce"]
    for test, reference in (
        ("paired_t", scipy.stats.ttest_1samp(gaps, 0)),
        ("wilcoxon_seeds", scipy.stats.wilcoxon(gaps)),
    ):
        row = rows.loc[test]
        assert (row["subject"], row["against"], row["cells"]) == ("war_w2v", "cce", 5)
        assert row["value"] == pytest.approx(gaps.mean()) and row["p_value"] == pytest.approx(reference.pvalue)
    text = comparison_text.to_markdown(found, {"x": "Two"}, LABELS)
    assert text.count("| 5 seeds |") == 4 and "1 settings" not in text  # two tests, two readings
    assert text.count("of 3 methods in 6 settings or more") == text.count("need the test predictions") == 1


def test_one_is_singular() -> None:
    found = comparison.statistics(
        over_settings.readings(three_methods(1)), {"x": experiment(["cce", "ar", "war_w2v"])}, no_published()
    )
    text = comparison_text.to_markdown(found, {"x": "Variants"}, LABELS)
    assert "Average ranks over 1 setting: " in text and "1 settings" not in text
    assert {row["over"] for row in comparison_text.for_page(found, LABELS) if row.get("over")} == {"1 setting"}


def test_methods_are_compared_on_the_images_of_the_seeds_that_both_have() -> None:
    """AR has seed 0 alone, on which it is as good as CCE; CCE's other seeds are far better."""
    right = np.arange(100) < 50
    numbers = {
        "cce": Number(83.3, by_seed={0: 50.0, 1: 100.0, 2: 100.0}, images={0: right, 1: right | True, 2: right | True}),
        "ar": Number(50.0, by_seed={0: 50.0}, images={0: right}),
    }
    (found,) = pairs.over_images(numbers)
    assert (found.subject, found.value, found.low, found.high) == ("ar", 0.0, 0.0, 0.0)


def test_what_is_missing_is_said_once() -> None:
    per_run = over_settings.readings(three_methods(1)).assign(data="stand-in")
    spec = experiment(["cce", "war_w2v"])
    table = comparison.statistics(per_run, {"x": spec, "y": spec}, results.read_published(PUBLISHED))
    assert table["p_value"].isna().all()
    text = comparison_text.to_markdown(table, {"x": "First", "y": "Second"}, LABELS)
    missing = text.split("## Not computed")[1].strip().splitlines()
    assert len(missing) == 4 and all(line.endswith(": First, Second.") for line in missing)
    for need in ("3 methods in 6 settings", "need 3 seeds", "need the test predictions", "only 2 methods"):
        assert text.count(need) == 1
    shown = comparison_text.for_page(table, LABELS)
    assert [row["statistic"] for row in shown].count("not computed") == 4 and "stand-in" in text


def test_statistics_use_the_names_of_the_table() -> None:
    spec = experiment(["war_w2v+beta=10"]) | {
        "trained_as": [("fashion_mnist", "asym-40", "cnn9", "war_w2v+beta=10", "war_w2v")]
    }
    table = comparison.statistics(
        over_settings.readings(three_methods(1)), {"x": spec}, results.read_published(PUBLISHED)
    )
    assert set(table.loc[table["test"] == "average_rank", "subject"]) == {"war_w2v+beta=10"}
