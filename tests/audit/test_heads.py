"""The linear classifiers of the audit against slow ones, and what the judgement makes of their predictions."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from warlab.audit import heads
from warlab.audit.heads import RIDGES, Table, folds, logistic, ridge
from warlab.audit.judge import (
    LIKELY,
    Judgement,
    Predictions,
    class_means,
    confident_joint,
    judge,
    keep,
    of_label,
    posterior,
    transitions,
    weigh,
)
from warlab.audit.quality import auroc


def clusters(n: int, classes: int, width: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Features around a centre for each class, as float16, and the labels."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % classes
    x = rng.normal(size=(classes, width))[labels] + rng.normal(size=(n, width))
    return (3 + 2 * x).astype(np.float16), labels


def table_of(x: np.ndarray) -> Table:
    return Table.standardise(x, np.arange(len(x)))


@pytest.mark.parametrize("n, width", [(40, 6), (20, 50)])
def test_ridge_leaves_each_sample_and_its_copies_out_as_refitting_does(
    n: int, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heads, "BLOCK", 7)
    monkeypatch.setattr(heads, "RIDGES", (0.3,))
    x, labels = clusters(n, 3, width)
    rows, kept = np.arange(n), np.arange(n) % 5 != 0
    rows[[3, 7, 10, 11]] = 1, 1, 2, 12  # copies under the same label and others; 10 is not kept, 2 is
    table = Table.standardise(x, rows)
    found = ridge(table, labels, 3, kept)
    inputs, target = table[np.arange(n)], np.eye(3)[labels]
    for sample in range(n):
        others = kept & (rows != rows[sample])
        slow = Ridge(alpha=0.3 * kept.sum()).fit(inputs[others], target[others])
        np.testing.assert_allclose(found[sample], slow.predict(inputs[[sample]])[0], atol=2e-4)


def test_ridge_takes_the_strength_with_the_smallest_error(monkeypatch: pytest.MonkeyPatch) -> None:
    x, labels = clusters(60, 3, 40)
    everything, target = np.ones(60, bool), np.eye(3)[labels]

    def error() -> float:
        return float(((ridge(table_of(x), labels, 3, everything) - target) ** 2).sum())

    chosen, errors = error(), []
    for strength in RIDGES:
        monkeypatch.setattr(heads, "RIDGES", (strength,))
        errors.append(error())
    assert chosen == pytest.approx(min(errors), rel=1e-5) and max(errors) > 1.05 * chosen


def test_logistic_regression_equals_that_of_scikit_learn_on_the_other_folds() -> None:
    x, labels = clusters(150, 3, 8)
    rows, kept = np.minimum(np.arange(150), 139), np.arange(150) % 7 != 0
    table, fold = Table.standardise(x, rows), folds(labels)
    fold[139:] = fold[139]  # copies are left out together
    found = logistic(table, labels, 3, kept, 0.05)
    for number in range(heads.FOLDS):
        inside = kept & (fold != number)
        slow = LogisticRegression(C=0.05, tol=1e-8).fit(table[np.flatnonzero(inside)], labels[inside])
        inputs = table[np.flatnonzero(fold == number)]
        np.testing.assert_allclose(found[fold == number], slow.predict_proba(inputs), atol=1e-2)


def test_every_class_is_in_every_fold() -> None:
    labels = np.repeat([0, 1, 2], [5, 23, 70])
    counts = np.array([[((folds(labels) == f) & (labels == c)).sum() for f in range(heads.FOLDS)] for c in range(3)])
    assert (counts.max(1) - counts.min(1) <= 1).all() and counts.min() == 1


def test_the_standardisation_of_blocks_is_that_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heads, "BLOCK", 7)
    x, _ = clusters(30, 3, 4)
    x[:, 2] = 1.5  # a constant feature
    rows = np.array([3, 3, 9, *range(20)])
    found, whole = Table.standardise(x, rows)[np.arange(23)], x[rows].astype(np.float64)
    np.testing.assert_allclose(found[:, 0], (whole[:, 0] - whole[:, 0].mean()) / whole[:, 0].std(), atol=1e-3)
    assert (found[:, 2] == 0).all()


@pytest.mark.parametrize("n", [200, 700])
def test_flipped_labels_come_first_with_their_true_class_suggested(n: int) -> None:
    x, truth = clusters(n, 4, 30)
    labels, wrong = truth.copy(), np.arange(n) % 10 == 0
    labels[wrong] = (truth[wrong] + 1) % 4
    found = judge(table_of(x), labels, 4)
    assert auroc(found.score, wrong) > 0.98 and wrong[np.argsort(-found.score)[:10]].all()
    assert (found.suggested[wrong] == truth[wrong]).mean() > 0.95 and (found.suggested != labels).all()
    assert wrong.sum() <= found.at_most <= 2 * wrong.sum()
    assert auroc(found.chance, wrong) > 0.98 and ((found.chance >= 0) & (found.chance <= 1)).all()
    assert found.rates @ np.bincount(labels) == pytest.approx(found.at_most, abs=1)


def test_the_confident_joint_and_the_posterior_of_a_small_example() -> None:
    predictions = np.array([[0.9, 0.1], [0.7, 0.3], [0.1, 0.9], [0.2, 0.8], [0.9, 0.1]])
    labels = np.array([0, 0, 0, 1, 1])
    thresholds = class_means(predictions, labels)
    np.testing.assert_allclose(thresholds, [1.7 / 3, 0.45])
    joint = confident_joint(predictions, labels, thresholds)
    np.testing.assert_allclose(joint, [[2, 1], [1, 1]])
    chance, suggested = posterior(predictions, labels, joint / joint.sum(0))
    np.testing.assert_allclose(chance[0], 1 - 0.9 * 2 / 3 / (0.9 * 2 / 3 + 0.1 * 1 / 2))
    assert suggested.tolist() == [1, 1, 1, 0, 0]


def test_the_transitions_are_those_that_flipped_the_labels() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 20_000)
    flips = np.array([[0.9, 0.4, 0.0], [0.1, 0.6, 0.0], [0.0, 0.0, 1.0]])  # columns are true classes
    labels = (rng.random(len(truth)) > flips.cumsum(0)[:, truth]).sum(0)
    p = np.full((len(truth), 4), 0.02)  # the last class has no images
    p[np.arange(len(truth)), np.where(rng.random(len(truth)) < 0.94, truth, rng.integers(0, 3, len(truth)))] = 0.94
    np.testing.assert_allclose(transitions(p, labels)[:3, :3], flips, atol=0.03)


def test_the_order_follows_the_first_round_the_second_or_the_chances() -> None:
    """Few errors or few images, many errors, and flips from one class to another that are not returned."""
    rng = np.random.default_rng(1)
    labels = np.arange(600) % 3
    first, later, p = (rng.dirichlet([1, 1, 1], 600) for _ in range(3))

    def judged(joint: list[list[int]], n: int = 600) -> Judgement:
        found = Predictions(2.0 * np.array(joint), np.ones(n, bool), first[:n], p[:n], later[:n])
        return weigh(found, labels[:n])

    own = [1 - (of_label(one, labels) + of_label(p, labels)) / 2 for one in (first, later)]
    few, many = [[96, 2, 2], [2, 96, 2], [2, 2, 96]], [[70, 15, 15], [15, 70, 15], [15, 15, 70]]
    np.testing.assert_allclose(judged(few).score, own[0])
    np.testing.assert_allclose(judged(many).score, own[1])
    np.testing.assert_allclose(judged(many, 300).score, own[0][:300])
    np.testing.assert_allclose(judged([[60, 40, 0], [40, 60, 0], [0, 0, 100]]).score, own[1])  # classes look alike
    one_sided = judged([[98, 1, 1], [60, 39, 1], [1, 1, 98]])
    np.testing.assert_allclose(one_sided.score, one_sided.chance)
    np.testing.assert_allclose(judged([[4, 4, 0], [0, 196, 0], [0, 0, 96]]).score, own[0])  # four of eight say nothing


@pytest.mark.parametrize("classes", [2, 7])
def test_the_upper_estimates_are_not_below_what_is_marked_as_likely_wrong(classes: int, monkeypatch) -> None:
    x, labels = clusters(140, classes, 5)
    chance = np.where(np.arange(140) % 3 == 0, 0.51, 0.01)  # many labels that are just likely to be wrong
    monkeypatch.setattr("warlab.audit.judge.posterior", lambda *_: (chance, labels))
    found = judge(table_of(x), labels, classes)
    likely = chance > LIKELY
    assert likely.sum() > 1.1 * chance.sum() and found.at_most >= likely.sum()
    assert (found.rates * np.bincount(labels) >= np.bincount(labels, likely) - 1e-9).all()


def test_no_class_is_dropped_as_a_whole_and_classes_without_images_are_no_trouble() -> None:
    order = np.array([5.0, 4.0, 3.0, 0.1, 0.2, 0.3])
    labels = np.array([2, 2, 2, 0, 0, 0])
    assert keep(order, labels, 4).tolist() == [False, True, True, True, True, False]
    x, truth = clusters(90, 3, 5)
    found = judge(table_of(x), np.where(truth == 2, 3, truth), 5)  # classes 2 and 4 are empty
    assert np.isfinite(found.score).all() and np.isfinite(found.rates).all()
    assert not set(found.suggested) & {2, 4} and len(found.suggested) == 90


@pytest.mark.parametrize("n, classes", [(2, 2), (3, 2), (40, 2), (60, 3), (30, 15)])
def test_features_that_say_nothing_and_tiny_classes_give_finite_numbers(n: int, classes: int) -> None:
    """So many labels look wrong that few are kept, sometimes all of them in one fold."""
    labels = np.arange(n) % classes
    for x in (np.full((n, 4), 7, np.float16), np.random.default_rng(n).normal(size=(n, 4)).astype(np.float16)):
        found = judge(table_of(x), labels, classes)
        assert all(np.isfinite(values).all() for values in (found.score, found.chance, found.rates))
        assert (found.suggested != labels).all() and 0 <= found.at_most <= n
