"""Statistics: known values of every test, and what they say where there is too little."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reports import LABELS, PUBLISHED, runs_table
from warlab.reporting import comparison, results, stats


def test_kendall_of_equal_reversed_and_one_swapped_order() -> None:
    paper = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}
    assert stats.kendall(paper, paper).tau == pytest.approx(1)
    assert stats.kendall({m: -v for m, v in paper.items()}, paper).tau == pytest.approx(-1)
    swapped = {**paper, "a": 2.5}  # b and a change places: 5 pairs in order, 1 against it, of 6
    found = stats.kendall(swapped, paper)
    assert found.tau == pytest.approx(4 / 6) and found.methods == 4 and 0 < found.p_value <= 1 and found.note == ""


def test_kendall_takes_the_common_methods_and_refuses_too_few() -> None:
    found = stats.kendall({"a": 1.0, "b": 2.0, "own": 9.0}, {"a": 1.0, "b": 2.0, "c": math.nan})
    assert math.isnan(found.tau) and math.isnan(found.p_value) and found.methods == 2 and "only 2 methods" in found.note
    assert "no order" in stats.kendall({"a": 1, "b": 1, "c": 1}, {"a": 1, "b": 2, "c": 3}).note


def test_readings_of_a_run() -> None:
    runs = runs_table({("cce", 0): [10.0, 90.0, 50.0, 40.0], ("ar", 0): [1.0, 2.0, 3.0, 4.0]})
    runs["val_accuracy"] = [1.0, 2.0, 9.0, 9.0, *[np.nan] * 4]
    first, second = stats.readings(runs.sample(frac=1, random_state=0), last=2).sort_values("method").to_dict("records")
    assert (first["method"], second["method"]) == ("ar", "cce")
    assert [second[name] for name in stats.READINGS] == [45.0, 40.0, 50.0, 90.0]
    assert math.isnan(first["best_by_noisy_validation"]) and first["best_on_test_diagnostic"] == 4.0
    assert math.isnan(stats.readings(runs.drop(columns="val_accuracy"))["best_by_noisy_validation"][0])


def test_the_paper_reads_ten_epochs() -> None:
    run = runs_table({("cce", 0): [0.0, 100.0, *[50.0] * 9]})
    assert stats.readings(run)["last10_mean"].tolist() == [55.0]


def test_a_missing_run_has_no_reading() -> None:
    runs = runs_table({("cce", 0): [50.0]})
    gap = runs.assign(method="ar", epoch=None, test_accuracy=np.nan)
    assert stats.readings(pd.concat([runs, gap]))["method"].tolist() == ["cce"]


def test_bootstrap_holds_the_mean_and_needs_three_seeds() -> None:
    found = stats.bootstrap([80.0, 81.0, 85.0, 82.0, 84.0])
    assert 80 < found.low < 82.4 < found.high < 85 and found == stats.bootstrap([80.0, 81.0, 85.0, 82.0, 84.0])
    few = stats.bootstrap([80.0, 81.0, math.nan])
    assert math.isnan(few.low) and "2 seeds" in few.note


@pytest.mark.parametrize(("methods", "quantile"), [(2, 1.960), (3, 2.343), (5, 2.728), (10, 3.164)])
def test_critical_difference_has_the_quantiles_of_demsars_table(methods: int, quantile: float) -> None:
    cells = 14
    expected = quantile * math.sqrt(methods * (methods + 1) / (6 * cells))
    assert stats.critical_difference(methods, cells) == pytest.approx(expected, rel=1e-3)


def test_holm_on_a_worked_example() -> None:
    assert stats.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_never_lowers_a_p_value_and_keeps_the_order(p_values: list[float]) -> None:
    corrected = stats.holm(p_values)
    assert all(p <= c <= 1 for p, c in zip(p_values, corrected, strict=True))
    for (p, c), (q, d) in itertools.combinations(zip(p_values, corrected, strict=True), 2):
        assert (p < q) <= (c <= d)


def wide(cells: int, methods: int = 3) -> pd.DataFrame:
    generator = np.random.default_rng(0)
    level = generator.normal(70, 10, (cells, 1))
    numbers = level + 5.0 * np.arange(methods) + generator.normal(0, 1, (cells, methods))
    return pd.DataFrame(numbers, columns=[f"m{k}" for k in range(methods)])


def test_compare_finds_a_clear_order() -> None:
    found = stats.compare(wide(12))
    assert found.ranks == {"m0": 3.0, "m1": 2.0, "m2": 1.0} and found.cells == 12
    assert found.statistic == pytest.approx(24) and found.p_value == pytest.approx(math.exp(-12), rel=1e-6)
    last = next(pair for pair in found.pairs if (pair.first, pair.second) == ("m0", "m2"))
    assert last.difference == pytest.approx(-10, abs=1) and last.wilcoxon_holm == pytest.approx(3 / 2**11)
    assert last.nemenyi < 0.001 and found.critical_difference == pytest.approx(0.957, abs=1e-3)


def test_nemenyi_and_the_critical_difference_say_the_same() -> None:
    table = wide(8, 4)
    found = stats.compare(table + np.random.default_rng(1).normal(0, 6, table.shape))
    for pair in found.pairs:
        apart = abs(found.ranks[pair.first] - found.ranks[pair.second])
        assert (pair.nemenyi < 0.05) == (apart > found.critical_difference)


@pytest.mark.parametrize(("cells", "methods"), [(5, 3), (12, 2), (0, 3)])
def test_compare_says_when_there_is_too_little(cells: int, methods: int) -> None:
    found = stats.compare(wide(cells, methods))
    assert math.isnan(found.p_value) and not found.pairs and f"{cells} complete cells" in found.note


def test_blocks_leave_out_incomplete_cells() -> None:
    runs = runs_table({("cce", 0): [50.0], ("ar", 0): [60.0], ("cce", 1): [51.0], ("tv", 0): [1.0]})
    found = stats.blocks(stats.readings(runs), ["cce", "ar"])
    assert found.to_numpy().tolist() == [[50.0, 60.0]] and list(found.columns) == ["cce", "ar"]


# ---- as a table


def experiment(methods: list[str]) -> dict:
    cells = [("fashion_mnist", "asym-40", "cnn9", method) for method in methods]
    return {"cells": cells, "trained_as": [], "title": "Variants"}


def three_methods(seeds: int) -> pd.DataFrame:
    level = {"cce": 70.0, "ar": 75.0, "war_w2v": 80.0}
    return runs_table({(m, s): [v + s] for m, v in level.items() for s in range(seeds)})


def test_statistics_of_an_experiment_with_enough_seeds() -> None:
    per_run = stats.readings(three_methods(6))
    table = comparison.statistics(
        per_run, {"x": experiment(["cce", "ar", "war_w2v"])}, results.read_published(PUBLISHED)
    )
    assert tuple(table.columns) == comparison.COLUMNS and set(table["reading"]) == {"last10_mean", "last"}
    first = table[table["reading"] == "last10_mean"].set_index("test")
    assert first.loc["friedman", "p_value"] == pytest.approx(math.exp(-6), rel=1e-6)
    assert first.loc["kendall", "value"] == pytest.approx(1)  # the paper: CCE 78.85 < AR 89.74 < WAR_w2v 90.41
    interval = first.loc["interval"].iloc[0]
    assert interval["subject"] == "fashion_mnist asym-40 cnn9 cce" and interval["low"] < 72.5 < interval["high"]
    text = comparison.to_markdown(table, {"x": "Variants"}, LABELS)
    assert "## Variants: mean of the last ten epochs" in text and "WAR<sub>w2v</sub> 1.00" in text
    assert "Kendall's τ = +1.00" in text and "| CCE | AR | -5.00 |" in text


def test_statistics_of_one_seed_say_that_it_is_too_little() -> None:
    per_run = stats.readings(three_methods(1)).assign(data="stand-in")
    table = comparison.statistics(per_run, {"x": experiment(["cce", "war_w2v"])}, results.read_published(PUBLISHED))
    assert (
        table["p_value"].isna().all()
        and table.loc[table["test"] == "friedman", "note"].str.contains("1 complete").all()
    )
    text = comparison.to_markdown(table, {}, LABELS)
    assert "No test: 2 methods in 1 complete cells" in text and "only 2 methods" in text and "stand-in" in text


def test_statistics_use_the_names_of_the_table() -> None:
    spec = experiment(["war_w2v+beta=10"]) | {
        "trained_as": [("fashion_mnist", "asym-40", "cnn9", "war_w2v+beta=10", "war_w2v")]
    }
    table = comparison.statistics(stats.readings(three_methods(1)), {"x": spec}, results.read_published(PUBLISHED))
    assert set(table.loc[table["test"] == "average_rank", "subject"]) == {"war_w2v+beta=10"}
