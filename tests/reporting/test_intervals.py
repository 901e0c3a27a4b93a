"""Intervals and paired tests: known values, with scipy as the reference, and the predictions that they rest on."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from tests.helpers.reports import LABELS, no_published, runs_table
from warlab.common.files import write_arrays
from warlab.errors import WarlabError
from warlab.reporting import stats
from warlab.reporting.claims import evidence
from warlab.reporting.read import predictions, results
from warlab.reporting.read.numbers import Number, collect_numbers
from warlab.reporting.read.results import Scenario
from warlab.reporting.tables import statistics_table

RUN = "fashion_mnist/asym-40/cnn9/{method}/seed{seed}"
ANY = "a/b/c/d/seed0"


# ---- intervals


def test_three_seeds_give_students_t_of_the_paired_differences() -> None:
    one, two = {0: 80.0, 1: 84.0, 2: 83.0}, {0: 79.0, 1: 81.0, 2: 81.0, 3: 50.0}
    estimate = stats.difference(Number(82.3, by_seed=one), Number(72.8, by_seed=two))
    reference = scipy.stats.ttest_rel(list(one.values()), [two[seed] for seed in one]).confidence_interval(0.95)
    assert estimate.interval() == pytest.approx((reference.low, reference.high))
    assert estimate.basis == "3 seeds, Student's t" and estimate.value == pytest.approx(2.0)


def test_two_seeds_give_the_test_set_instead() -> None:
    generator = np.random.default_rng(0)
    common = generator.random(500)
    a, b = (common < 0.8).astype(float), (common < 0.7).astype(float)
    one = Number(80.0, by_seed={0: 79.0, 1: 81.0}, images={0: a, 1: a})
    two = Number(70.0, by_seed={0: 69.0, 1: 71.0}, images={0: b, 1: b})
    paired = stats.difference(one, two)
    reference = scipy.stats.ttest_rel(100 * a, 100 * b).confidence_interval(0.95)
    width = paired.interval()[1] - paired.interval()[0]
    assert paired.basis == "500 paired test samples"
    assert width == pytest.approx(reference.high - reference.low, rel=0.01)
    apart = stats.difference(Number(80.0, tested_on=500), Number(70.0, tested_on=500))
    assert apart.basis == "500 test samples, binomial" and apart.error > paired.error
    assert apart.error == pytest.approx(100 * math.sqrt(0.8 * 0.2 / 500 + 0.7 * 0.3 / 500))


def test_without_seeds_and_test_set_nothing_is_excluded() -> None:
    assert stats.difference(Number(90.0), Number(10.0)).interval() == (-math.inf, math.inf)
    assert stats.difference(Number(9.0, printed=True), Number(8.0, printed=True)).interval() == (1.0, 1.0)


def test_a_ratio_of_times_has_the_error_of_both() -> None:
    estimate = stats.ratio(Number(20.0, error=0.2, basis="timed steps"), Number(10.0, error=0.1))
    assert estimate.value == 2 and estimate.error == pytest.approx(2 * math.hypot(0.01, 0.01))


# ---- draws


@pytest.mark.parametrize("count", [3, 5, 12])
def test_means_drawn_over_seeds_have_the_interval_of_students_t(count: int) -> None:
    generator = np.random.default_rng(1)
    values = generator.normal(80, 2, (2, count))
    numbers = [Number(float(row.mean()), by_seed=dict(enumerate(row))) for row in values]
    draws, basis = stats.draw_means(numbers, np.random.default_rng(0))
    expected = stats.difference(*numbers).interval()
    assert basis == f"{count} seeds, Student's t" and draws.shape == (stats.DRAWS, 2)
    tolerance = 0.15 * (expected[1] - expected[0])
    assert stats.quantiles(draws[:, 0] - draws[:, 1]) == pytest.approx(expected, abs=tolerance)


def test_means_drawn_over_images_have_their_spread_and_the_same_images() -> None:
    correct = (np.random.default_rng(1).random(400) < 0.8).astype(float)
    numbers = [Number(80.0 + k, images={0: correct}) for k in (0, 1)]
    draws, basis = stats.draw_means(numbers, np.random.default_rng(0))
    assert basis == "400 test samples, bootstrap"
    assert draws[:, 0].std() == pytest.approx(100 * correct.std() / math.sqrt(400), rel=0.1)
    assert draws[:, 1] - draws[:, 0] == pytest.approx(np.ones(stats.DRAWS))


# ---- pairs


def test_fewer_than_three_seeds_are_not_tested_and_equal_differences_have_no_spread() -> None:
    few, equal = ({m: {s: v + s for s in range(n)} for m, v in (("cce", 70.0), ("ar", 71.0))} for n in (2, 3))
    assert stats.compare_over_seeds({m: Number(0.0, by_seed=v) for m, v in few.items()}) == []
    (row,) = stats.compare_over_seeds({m: Number(0.0, by_seed=v) for m, v in equal.items()})
    assert (row.value, row.low, row.high, row.p_value) == (1.0, 1.0, 1.0, 0.0)


def store(correct: dict[tuple[str, int], np.ndarray]) -> predictions.Predictions:
    """Predictions that are correct where the array (E, M, N) says so; the true class is always 3."""
    arrays = {RUN.format(method=m, seed=s): np.where(a, 3, 1).astype(np.uint8) for (m, s), a in correct.items()}
    labels = np.full(next(iter(correct.values())).shape[2], 3)
    return {**arrays, "labels/fashion_mnist": labels}


def per_run(runs: pd.DataFrame) -> pd.DataFrame:
    return results.readings(runs).pipe(lambda read: read.assign(run=results.run_ids(read), epochs=10))


def test_bootstrap_over_images_agrees_with_the_paired_t_interval() -> None:
    generator = np.random.default_rng(3)
    a, b = generator.random(1000) < 0.8, generator.random(1000) < 0.76
    kept = store({("cce", 0): b[None, None], ("war_w2v", 0): a[None, None]})
    setting = per_run(runs_table({("cce", 0): [100 * b.mean()], ("war_w2v", 0): [100 * a.mean()]}))
    (numbers,) = collect_numbers(setting, "last10_mean", kept, {}).values()
    (row,) = stats.compare_over_images(numbers)
    reference = scipy.stats.ttest_rel(100.0 * a, 100.0 * b)
    span = reference.confidence_interval(0.95)
    assert (row.low, row.high) == pytest.approx((span.low, span.high), abs=0.25)
    assert row.p_value == pytest.approx(reference.pvalue, abs=0.02) and stats.compare_over_images(numbers) == [row]


def test_methods_are_compared_on_the_images_of_the_seeds_that_both_have() -> None:
    """AR has seed 0 alone, on which it is as good as CCE; CCE's other seeds are far better."""
    half = np.arange(100) < 50
    numbers = {
        "cce": Number(83.3, by_seed={0: 50.0, 1: 100.0, 2: 100.0}, images={0: half, 1: half | True, 2: half | True}),
        "ar": Number(50.0, by_seed={0: 50.0}, images={0: half}),
    }
    (row,) = stats.compare_over_images(numbers)
    assert (row.subject, row.value, row.low, row.high) == ("ar", 0.0, 0.0, 0.0)


def test_statistics_test_the_mean_of_the_last_epochs_over_images() -> None:
    generator = np.random.default_rng(4)
    kept = store({(m, 0): generator.random((2, 1, 300)) < p for m, p in (("cce", 0.5), ("ar", 0.8), ("war_w2v", 0.9))})
    runs = runs_table({("cce", 0): [50.0, 50.0], ("ar", 0): [80.0, 80.0], ("war_w2v", 0): [90.0, 90.0]})
    cells = [("fashion_mnist", "asym-40", "cnn9", m) for m in ("cce", "ar", "war_w2v")]
    table = statistics_table.statistics(results.readings(runs), {"x": {"cells": cells}}, no_published(), kept)
    tests = table[table["test"] == "bootstrap_images"]
    assert set(tests["reading"]) == {"last10_mean"} and len(tests) == 3
    assert "predictions" not in " ".join(table["note"])


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
    for kept in (collected, predictions.read_predictions([tmp_path / "evidence.npz"])):
        correct = predictions.correct_answers(kept, run)
        assert correct.mean((0, 1)).tolist() == [1, 0.75, 0.5, 0.25]
        assert correct[-1:].mean((0, 1)).tolist() == [1, 0.5, 0.5, 0.5]
        assert predictions.correct_answers(kept, "fashion_mnist/asym-40/cnn9/older/seed0") is None
    assert predictions.correct_answers(predictions.read_predictions([]), run) is None


def test_predictions_of_other_images_are_refused() -> None:
    kept = {ANY: np.zeros((1, 1, 5), np.uint8), "labels/a": np.zeros(4)}
    with pytest.raises(WarlabError, match=rf"{ANY} have the shape \(1, 1, 5\), but there are 4 test labels"):
        predictions.correct_answers(kept, ANY)
    tiles = {ANY: np.zeros((0, 0, 0), np.uint8), "labels/a": np.zeros(4)}
    assert predictions.correct_answers(tiles, ANY) is None


def test_claims_take_the_predictions_where_they_are_kept() -> None:
    generator = np.random.default_rng(5)
    kept = store({(m, 0): generator.random((3, 1, 300)) < p for m, p in (("cce", 0.5), ("war_w2v", 0.9))})
    runs = runs_table({("cce", 0): [50.0] * 3, ("war_w2v", 0): [90.0] * 3})
    at = Scenario("fashion_mnist", "asym-40", "cnn9", "test_accuracy")
    with_images = evidence.load_evidence(runs, LABELS, {}, predictions=kept, tested_on={"fashion_mnist": 300})
    without = evidence.load_evidence(runs, LABELS, {}, tested_on={"fashion_mnist": 300})
    bases = [stats.difference(e.number(at, "war_w2v"), e.number(at, "cce")).basis for e in (with_images, without)]
    assert bases == ["300 paired test samples", "300 test samples, binomial"]
