"""Intervals and paired tests: known values, with scipy as the reference, and the predictions that they rest on."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.helpers.reports import LABELS, no_published, runs_table
from warlab.common.files import write_arrays
from warlab.errors import WarlabError
from warlab.reporting.claims import evidence
from warlab.reporting.read import predictions, results
from warlab.reporting.read.results import Scenario
from warlab.reporting.stats import comparison, intervals, pairs
from warlab.reporting.stats.intervals import Number
from warlab.reporting.stats.over_settings import holm, readings

RUN = "fashion_mnist/asym-40/cnn9/{method}/seed{seed}"
ANY = "a/b/c/d/seed0"


# ---- intervals


def test_three_seeds_give_students_t_of_the_paired_differences() -> None:
    one, two = {0: 80.0, 1: 84.0, 2: 83.0}, {0: 79.0, 1: 81.0, 2: 81.0, 3: 50.0}
    found = intervals.difference(Number(82.3, by_seed=one), Number(72.8, by_seed=two))
    reference = stats.ttest_rel(list(one.values()), [two[seed] for seed in one]).confidence_interval(0.95)
    assert found.interval() == pytest.approx((reference.low, reference.high))
    assert found.basis == "3 seeds, Student's t" and found.value == pytest.approx(2.0)


def test_two_seeds_give_the_test_set_instead() -> None:
    generator = np.random.default_rng(0)
    common = generator.random(500)
    a, b = (common < 0.8).astype(float), (common < 0.7).astype(float)
    one = Number(80.0, by_seed={0: 79.0, 1: 81.0}, images={0: a, 1: a})
    two = Number(70.0, by_seed={0: 69.0, 1: 71.0}, images={0: b, 1: b})
    found = intervals.difference(one, two)
    reference = stats.ttest_rel(100 * a, 100 * b).confidence_interval(0.95)
    width = found.interval()[1] - found.interval()[0]
    assert found.basis == "500 paired test images" and width == pytest.approx(reference.high - reference.low, rel=0.01)
    apart = intervals.difference(Number(80.0, tested_on=500), Number(70.0, tested_on=500))
    assert apart.basis == "500 test images, binomial"
    assert (
        apart.error == pytest.approx(100 * math.sqrt(0.8 * 0.2 / 500 + 0.7 * 0.3 / 500)) and apart.error > found.error
    )


def test_without_seeds_and_test_set_nothing_is_excluded() -> None:
    assert intervals.difference(Number(90.0), Number(10.0)).interval() == (-math.inf, math.inf)
    assert intervals.difference(Number(9.0, printed=True), Number(8.0, printed=True)).interval() == (1.0, 1.0)


def test_a_ratio_of_times_has_the_error_of_both() -> None:
    found = intervals.ratio(Number(20.0, error=0.2, basis="timed steps"), Number(10.0, error=0.1))
    assert found.value == 2 and found.error == pytest.approx(2 * math.hypot(0.01, 0.01))


@pytest.mark.parametrize("cell", ["seeds", "images"])
def test_resampling_within_a_cell_has_the_spread_of_its_mean_and_keeps_pairs(cell: str) -> None:
    generator = np.random.default_rng(1)
    if cell == "seeds":
        values = generator.normal(80, 2, 12)
        known = [Number(values.mean() + k, by_seed=dict(enumerate(values + k))) for k in (0, 1)]
        error = values.std() / math.sqrt(12)
    else:
        right = (generator.random(400) < 0.8).astype(float)
        known, error = [Number(80.0 + k, images={0: right}) for k in (0, 1)], 100 * right.std() / math.sqrt(400)
    draws, basis = intervals.resampled(known, np.random.default_rng(0))
    assert cell in basis and draws.shape == (2000, 2)
    assert draws[:, 0].std() == pytest.approx(error, rel=0.1)
    assert draws[:, 1] - draws[:, 0] == pytest.approx(np.ones(2000))  # both on the same seeds, the same images


def test_means_over_settings_are_resampled_in_each_setting() -> None:
    """Two settings 40 points apart: seeds are drawn in each, so the distance between settings adds no width."""
    low, high = (
        {m: Number(v, by_seed={s: v + s for s in range(3)}) for m, v in (("cce", at), ("ar", at + 5))}
        for at in (40, 80)
    )
    (found,) = pairs.across([low, high])
    assert (found.subject, found.against, found.cells, found.value) == ("ar", "cce", 2, 5.0)
    assert (found.low, found.high) == pytest.approx((5.0, 5.0))  # the same seeds of both methods
    assert pairs.across([low]) == []


# ---- pairs


def test_pairs_of_interest() -> None:
    found = pairs.of_interest(["ar", "cce", "war_w2v"])
    assert found == [("ar", "cce"), ("war_w2v", "cce"), ("war_w2v", "ar")]
    assert pairs.of_interest(["own", "other"]) == [("other", "own")]


def test_tests_over_seeds_are_those_of_scipy() -> None:
    generator = np.random.default_rng(2)
    values = {method: generator.normal(80 + k, 1, 5) for k, method in enumerate(("cce", "ar", "war_01"))}
    numbers = {m: Number(v.mean(), by_seed=dict(enumerate(v))) for m, v in values.items()}
    found = {(test.test, test.subject, test.against): test for test in pairs.over_seeds(numbers)}
    names = [("ar", "cce"), ("war_01", "cce"), ("war_01", "ar")]
    for test, reference in (("paired_t", stats.ttest_rel), ("wilcoxon_seeds", stats.wilcoxon)):
        expected = holm([float(reference(values[a], values[b]).pvalue) for a, b in names])
        assert [found[(test, a, b)].p_value for a, b in names] == pytest.approx(expected)
        assert {found[(test, a, b)].cells for a, b in names} == {5}
    (all_of_them,) = pairs.among_all(numbers)
    assert all_of_them.p_value == pytest.approx(stats.friedmanchisquare(*values.values()).pvalue)
    few = {m: Number(n.mean, by_seed={0: 1.0, 1: 2.0}) for m, n in numbers.items()}
    assert pairs.over_seeds(few) == [] and list(pairs.among_all(few)) == []


def kept(right: dict[tuple[str, int], np.ndarray]) -> predictions.Predictions:
    """Predictions that are right where the array (E, M, N) says so; the true class is always 3."""
    arrays = {RUN.format(method=m, seed=s): np.where(a, 3, 1).astype(np.uint8) for (m, s), a in right.items()}
    labels = np.full(next(iter(right.values())).shape[2], 3)
    return {**arrays, "labels/fashion_mnist": labels}


def with_paths(runs: pd.DataFrame) -> pd.DataFrame:
    return readings(runs).pipe(lambda read: read.assign(run=results.run_ids(read)))


def test_mcnemar_by_hand() -> None:
    """12 images that only WAR has right, 3 that only CCE has right: 2 · P(at most 3 of 15)."""
    cce = np.array([True] * 3 + [False] * 12 + [True] * 25)
    war = np.array([False] * 3 + [True] * 12 + [True] * 25)
    ends = {("cce", 0): cce, ("war_w2v", 0): war}
    # before the last epoch, and in a second network, everything is wrong: neither counts
    store = kept({key: np.stack([np.stack([a & False] * 2), np.stack([a, a & False])]) for key, a in ends.items()})
    (found,) = pairs.mcnemar(with_paths(runs_table({("cce", 0): [70.0], ("war_w2v", 0): [92.5]})), store)
    assert found.p_value == pytest.approx(2 * sum(math.comb(15, k) for k in range(4)) / 2**15)
    assert (found.test, found.cells, found.value) == ("mcnemar", 40, 22.5)


def test_bootstrap_over_images_agrees_with_the_paired_t_interval() -> None:
    generator = np.random.default_rng(3)
    a, b = generator.random(1000) < 0.8, generator.random(1000) < 0.76
    store = kept({("cce", 0): b[None, None], ("war_w2v", 0): a[None, None]})
    setting = with_paths(runs_table({("cce", 0): [100 * b.mean()], ("war_w2v", 0): [100 * a.mean()]}))
    (numbers,) = intervals.numbers_of(setting, "last10_mean", store, lambda _: 10, {}).values()
    (found,) = pairs.over_images(numbers)
    reference = stats.ttest_rel(100.0 * a, 100.0 * b)
    span = reference.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((span.low, span.high), abs=0.25)
    assert found.p_value == pytest.approx(reference.pvalue, abs=0.02) and pairs.over_images(numbers) == [found]


def test_statistics_have_the_tests_over_images() -> None:
    generator = np.random.default_rng(4)
    store = kept({(m, 0): generator.random((2, 1, 300)) < p for m, p in (("cce", 0.5), ("ar", 0.8), ("war_w2v", 0.9))})
    runs = runs_table({("cce", 0): [50.0, 50.0], ("ar", 0): [80.0, 80.0], ("war_w2v", 0): [90.0, 90.0]})
    cells = [("fashion_mnist", "asym-40", "cnn9", m) for m in ("cce", "ar", "war_w2v")]
    spec = {"x": {"cells": cells, "trained_as": [], "title": "X"}}
    found = comparison.statistics(readings(runs), spec, no_published(), store)
    tests = found.groupby("test")["reading"].agg(set).to_dict()
    assert tests["bootstrap_images"] == {"last10_mean"} and tests["mcnemar"] == {"last"}
    assert len(found[found["test"] == "mcnemar"]) == 3 and "predictions" not in " ".join(found["note"])


# ---- predictions


def test_predictions_are_read_from_runs_and_from_evidence_alike(tmp_path: Path) -> None:
    labels = np.array([0, 1, 2, 3])
    given = np.array([[[0, 1, 0, 0], [0, 1, 2, 0]], [[0, 0, 0, 0], [0, 1, 2, 3]]], np.uint8)  # (2, 2, 4)
    run = RUN.format(method="jocor", seed=1)
    write_arrays(tmp_path / "data" / "fashion_mnist.npz", test_y=labels, test_x=np.zeros(3))
    write_arrays(tmp_path / "runs" / run / "test_predictions.npz", predictions=given, epochs=np.array([4, 5]))
    collected = predictions.collect_predictions(tmp_path, [run, RUN.format(method="older", seed=0)])
    write_arrays(tmp_path / "evidence.npz", **collected)
    assert sorted(collected) == [run, "labels/fashion_mnist"]
    for store in (collected, predictions.read_predictions([tmp_path / "evidence.npz"])):
        right = predictions.correct_answers(store, run)
        assert right.mean((0, 1)).tolist() == [1, 0.75, 0.5, 0.25]
        assert right[-1:].mean((0, 1)).tolist() == [1, 0.5, 0.5, 0.5]
        assert right[-1, 0].tolist() == [True, False, False, False]
        assert predictions.correct_answers(store, "fashion_mnist/asym-40/cnn9/older/seed0") is None
    assert predictions.correct_answers(predictions.read_predictions([]), run) is None


def test_predictions_of_other_images_are_refused() -> None:
    store = {ANY: np.zeros((1, 1, 5), np.uint8), "labels/a": np.zeros(4)}
    with pytest.raises(WarlabError, match=rf"{ANY} have the shape \(1, 1, 5\), but there are 4 test labels"):
        predictions.correct_answers(store, ANY)
    tiles = {ANY: np.zeros((0, 0, 0), np.uint8), "labels/a": np.zeros(4)}
    assert predictions.correct_answers(tiles, ANY) is None


def test_claims_take_the_predictions_where_they_are_kept() -> None:
    generator = np.random.default_rng(5)
    store = kept({(m, 0): generator.random((3, 1, 300)) < p for m, p in (("cce", 0.5), ("war_w2v", 0.9))})
    runs = runs_table({("cce", 0): [50.0] * 3, ("war_w2v", 0): [90.0] * 3})
    at = Scenario("fashion_mnist", "asym-40", "cnn9", "test_accuracy")
    with_kept = evidence.of_runs(runs, [], LABELS, {}, kept=store, tested_on={"fashion_mnist": 300})
    without = evidence.of_runs(runs, [], LABELS, {}, tested_on={"fashion_mnist": 300})
    bases = [intervals.difference(e.number(at, "war_w2v"), e.number(at, "cce")).basis for e in (with_kept, without)]
    assert bases == ["300 paired test images", "300 test images, binomial"]
