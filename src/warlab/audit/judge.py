"""Which labels look wrong, judged by two linear classifiers in two rounds.

First round: ridge regression predicts each sample out of sample; `confident` (see `scoring`) orders the samples, and
the confident joint (Northcutt et al., 2021) estimates how many labels are wrong and T, the chances of each class to be
labelled as another. The first so many samples are dropped.

Second round: ridge and logistic regression are fitted without them; p is the softmax of the ridge predictions at the
temperature that makes the kept labels most likely, and q are the probabilities of the logistic regression. All samples
are judged:

    score     mean of the ranks of 1 - p_y and 1 - q_y; of few samples, `confident` of the first round
    chance    1 - p_y T[y → y] / Σ_k p_k T[k → y]     that the true class is not y, given the image and the label
    suggested argmax_{k ≠ y} p_k T[k → y]
"""

import logging
from dataclasses import dataclass

import numpy as np

from warlab.audit.heads import Table, logistic, ridge, softmax
from warlab.audit.scoring import confident

logger = logging.getLogger(__name__)
LIKELY = 0.5  # a higher chance marks a label as likely wrong
FEW = 500  # with fewer images the second round does not order better (docs/evidence/audit)
SAFETY = 1.1  # factor of the upper estimate, chosen on one half of the settings of docs/evidence/audit
TEMPERATURES = np.geomspace(0.01, 1, 41)


@dataclass(frozen=True)
class Judgement:
    """For N samples of C classes: score, chance and suggested class (N,), and estimates over all of them."""

    score: np.ndarray
    chance: np.ndarray
    suggested: np.ndarray
    at_most: int
    rates: np.ndarray  # (C,)


def judge(table: Table, labels: np.ndarray, classes: int) -> Judgement:
    """Judge all labels."""
    everything = np.ones(len(labels), bool)
    logger.info(f"judging {len(labels)} labels, first round")
    first = ridge(table, labels, classes, everything)
    thresholds = class_means(first, labels)
    order = confident(first, labels, thresholds)
    joint = confident_joint(first, labels, thresholds)
    n_wrong = round(len(labels) - np.trace(joint))
    kept = keep(order, labels, n_wrong)
    logger.info("second round, without the suspects of the first")
    p = probabilities(ridge(table, labels, classes, kept), labels, kept)
    chance, suggested = posterior(p, labels, joint)
    if len(labels) < FEW:
        score = order
    else:
        q = logistic(table, labels, classes, kept)
        score = mean_rank(1 - of_label(p, labels), 1 - of_label(q, labels))
    at_most = upper_estimate(n_wrong, chance)
    sizes = np.maximum(np.bincount(labels, minlength=classes), 1)
    marked = np.bincount(labels, chance > LIKELY, classes)
    rates = np.maximum(np.bincount(labels, chance, classes) * at_most / max(chance.sum(), 1e-9), marked) / sizes
    rates = np.minimum(rates, 1)
    return Judgement(score, chance, suggested, at_most, rates)


def keep(order: np.ndarray, labels: np.ndarray, n_dropped: int) -> np.ndarray:
    """Return a mask without the first samples; the two least suspicious ones of a class always stay."""
    kept = np.ones(len(order), bool)
    kept[np.argsort(-order, kind="stable")[:n_dropped]] = False
    by_class = np.lexsort((order, labels))
    place = np.arange(len(labels)) - np.searchsorted(labels[by_class], labels[by_class])
    kept[by_class[place < 2]] = True
    return kept


def of_label(values: np.ndarray, labels: np.ndarray) -> np.ndarray:
    return values[np.arange(len(labels)), labels]


def class_means(predictions: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the mean prediction (C,) of each class for the samples labelled so; infinite for an empty class."""
    classes = predictions.shape[1]
    sizes = np.bincount(labels, minlength=classes)
    sums = np.bincount(labels, of_label(predictions, labels), classes)
    return np.where(sizes > 0, sums / np.maximum(sizes, 1), np.inf)


def confident_joint(predictions: np.ndarray, labels: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """Return estimated counts (C, C) by given and true class: each row is as large as its class.

    A sample is counted for the class with the largest prediction among those that reach their thresholds.
    """
    classes = predictions.shape[1]
    sizes = np.bincount(labels, minlength=classes)
    reached = np.where(predictions >= thresholds, predictions, -np.inf)
    sure = np.isfinite(reached.max(1))
    counts = np.zeros((classes, classes))
    np.add.at(counts, (labels[sure], reached[sure].argmax(1)), 1)
    empty = counts.sum(1) == 0
    counts[empty, empty] = 1  # nothing is known of this class: no suspicion
    return counts / counts.sum(1, keepdims=True) * sizes[:, None]


def probabilities(predictions: np.ndarray, labels: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Return the softmax of predictions at the temperature that makes the kept labels most likely."""
    known, y = predictions[kept], labels[kept]
    losses = [-np.log(of_label(softmax(known / t), y) + 1e-12).mean() for t in TEMPERATURES]
    return softmax(predictions / TEMPERATURES[int(np.argmin(losses))])


def posterior(p: np.ndarray, labels: np.ndarray, joint: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the chance that each label is wrong, and the most probable other class."""
    columns = joint.sum(0)
    to_label = np.where(columns > 0, joint / np.where(columns > 0, columns, 1), np.eye(len(joint)))  # [y, k]: k → y
    weights = p * to_label[labels]
    weights /= np.maximum(weights.sum(1, keepdims=True), 1e-12)
    chance = 1 - of_label(weights, labels)
    weights[np.arange(len(labels)), labels] = -np.inf
    nothing = weights.max(1) <= 0  # no flip into this class was seen: the prediction alone decides
    others = np.where(nothing[:, None], p, weights)
    others[:, joint.sum(1) == 0] = -np.inf  # a class without images
    others[np.arange(len(labels)), labels] = -np.inf
    return chance, others.argmax(1)


def mean_rank(*scores: np.ndarray) -> np.ndarray:
    """Return the mean of the ranks, between 0 and 1; the most suspicious sample has the highest."""
    ranks = [np.argsort(np.argsort(score, kind="stable"), kind="stable") + 1 for score in scores]
    return np.mean(ranks, axis=0) / len(scores[0])


def upper_estimate(n_wrong: int, chance: np.ndarray) -> int:
    """Return an upper estimate of the number of wrong labels: not fewer than are marked as likely wrong."""
    estimate = int(np.ceil(SAFETY * max(n_wrong, float(chance.sum()))))
    return min(len(chance), max(estimate, int((chance > LIKELY).sum())))
