"""Which labels look wrong, judged by two linear classifiers in two rounds.

First round: both predict each sample out of sample. `confident` (see `scoring`) of the ridge regression orders the
samples, and the confident joint (Northcutt et al., 2021) says how many labels look wrong. So many are dropped.

Second round: both are fitted without them, and all samples are judged. p are the probabilities of the ridge regression
(a softmax), q₁ and q₂ those of the logistic regression in the first and second round. With m the mean of p and of q₂,
both at the temperature that makes the kept labels most likely, and with T[k → y] that makes all labels most likely:

    chance     1 - m_y T[y → y] / Σ_k m_k T[k → y]     that the true class is not y, given the image and the label
    suggested  argmax_{k ≠ y} m_k T[k → y]
    score      1 - (p_y + q_y) / 2, where q is q₁ if few labels look wrong and q₂ if many do;
               it becomes the chance where flips are one-sided: many images of one class are labelled as another
               one, and few the other way round

Both transitions are gradual (MANY, SURPLUS). The second round of the logistic regression helps where many labels are
wrong and hurts where few are, because it drops right labels; the same is true of T (docs/evidence/audit).
"""

import logging
from dataclasses import dataclass

import numpy as np

from warlab.audit.heads import FIT_AT_MOST, Table, logistic, ridge, softmax, thinned
from warlab.audit.scoring import confident

logger = logging.getLogger(__name__)
LIKELY = 0.5  # a higher chance marks a label as likely wrong
# How these were chosen: docs/evidence/audit/plan.md
SAFETY = 1.25  # factor of the upper estimate
FEW = 500  # images, below which the logistic regression has no second round
MANY = (0.15, 0.25)  # share of labels that look wrong: few up to the first number, many from the second
SURPLUS = (0.04, 0.08)  # of the larger of two classes, by which flips in one direction exceed those in the other
TEMPERATURES = np.geomspace(0.01, 3, 60)
STEPS = 30  # of the estimate of T


@dataclass(frozen=True)
class Predictions:
    """Probabilities (N, C) for N samples of C classes, none of which knows the sample's own label."""

    joint: np.ndarray  # (C, C) of the first round
    kept: np.ndarray  # (N,) that were not dropped
    first: np.ndarray  # logistic regression
    ridge: np.ndarray  # of the second round, as the next
    logistic: np.ndarray

    @property
    def share(self) -> float:
        """Return the share of labels that look wrong by the confident joint, which is often too high."""
        return float(1 - np.trace(self.joint) / self.joint.sum())

    @property
    def late(self) -> float:
        """Return 0 if few labels look wrong, 1 if many."""
        return 0.0 if len(self.kept) < FEW else ramp(self.share, MANY)

    @property
    def one_sided(self) -> float:
        """Return 1 if many more images of one class are labelled as another than the other way round."""
        surplus = self.joint - self.joint.T - 2 * np.sqrt(self.joint + self.joint.T)  # less two standard errors
        sizes = self.joint.sum(0)
        return ramp(float((surplus / np.maximum(sizes, sizes[:, None]).clip(1)).max()), SURPLUS)


@dataclass(frozen=True)
class Judgement:
    """For N samples of C classes: score, chance and suggested class (N,), and estimates over all of them."""

    score: np.ndarray
    chance: np.ndarray
    suggested: np.ndarray
    at_most: int
    rates: np.ndarray  # (C,)


def predict(table: Table, labels: np.ndarray, classes: int) -> Predictions:
    """Fit both classifiers in both rounds."""
    everything = np.ones(len(labels), bool)
    logger.info(f"judging {len(labels)} labels, first round")
    predictions = ridge(table, labels, classes, everything)
    joint, kept = drop_suspects(predictions, labels)
    first = logistic(table, labels, classes, everything)
    logger.info("second round, without the suspects of the first")
    p = at_temperature(ridge(table, labels, classes, kept), labels, kept)
    return Predictions(joint, kept, first, p, logistic(table, labels, classes, kept))


def drop_suspects(predictions: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the confident joint (C, C), and a mask (N,) without as many samples as look wrong by it."""
    thresholds = class_means(predictions, labels)
    joint = confident_joint(predictions, labels, thresholds)
    n_wrong = round(len(labels) - np.trace(joint))
    return joint, keep(confident(predictions, labels, thresholds), labels, n_wrong)


def judge(table: Table, labels: np.ndarray, classes: int) -> Judgement:
    """Judge all labels by features."""
    return weigh(predict(table, labels, classes), labels)


def weigh(found: Predictions, labels: np.ndarray, at_least: int = 0) -> Judgement:
    """Judge all labels by predictions. The upper estimate is `at_least` so high."""
    sizes = np.bincount(labels, minlength=len(found.joint))
    chance, suggested = find_chances(found, labels)
    before, after = of_label(found.first, labels), of_label(found.logistic, labels)
    own = (1 - found.late) * before + found.late * after
    score = 1 - (of_label(found.ridge, labels) + own) / 2
    score = (1 - found.one_sided) * score + found.one_sided * chance
    marked = np.bincount(labels, chance > LIKELY, len(sizes))
    if found.share > LIKELY:  # the features say next to nothing, of which T knows nothing
        at_least = max(at_least, round(found.share * len(labels)))
    at_most = min(len(labels), max(int(np.ceil(SAFETY * chance.sum())), int(marked.sum()), at_least))
    spread = np.bincount(labels, chance + 1e-6, len(sizes))  # where no chance is above 0, over all alike
    rates = np.minimum(np.maximum(spread * at_most / spread.sum(), marked) / np.maximum(sizes, 1), 1)
    return Judgement(score, chance, suggested, at_most, rates)


def find_chances(found: Predictions, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the chance that each label is wrong, and the most probable other class."""
    second = at_temperature(np.log(found.logistic + 1e-9), labels, found.kept)
    mean = (found.ridge + second) / 2
    part = thinned(np.arange(len(labels)), FIT_AT_MOST)
    return posterior(mean, labels, transitions(mean[part], labels[part]))


def ramp(share: float, ends: tuple[float, float]) -> float:
    return float(np.clip((share - ends[0]) / (ends[1] - ends[0]), 0, 1))


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


def at_temperature(logits: np.ndarray, labels: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Return the softmax at the temperature that makes the kept labels most likely."""
    part = thinned(np.flatnonzero(kept), FIT_AT_MOST)
    known, y = logits[part], labels[part]
    losses = [-np.log(of_label(softmax(known / t), y) + 1e-12).mean() for t in TEMPERATURES]
    return softmax(logits / TEMPERATURES[int(np.argmin(losses))])


def transitions(p: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return T (C, C), T[y, k] = k → y, that makes the labels most likely if p are the true classes' probabilities.

    Expectation maximisation; one sample is added to each class, which is flipped to all others alike.
    """
    order = np.argsort(labels, kind="stable")
    p, classes = p[order], p.shape[1]
    present, starts = np.unique(labels[order], return_index=True)
    flips = np.full((classes, classes), 0.1 / (classes - 1))
    np.fill_diagonal(flips, 0.9)
    for _ in range(STEPS):
        weights = p * flips[labels[order]]
        weights /= np.maximum(weights.sum(1, keepdims=True), 1e-12)
        counts = np.zeros((classes, classes))
        counts[present] = np.add.reduceat(weights, starts)
        rate = 1 - np.trace(counts) / counts.sum()
        even = np.full((classes, classes), rate / (classes - 1))
        np.fill_diagonal(even, 1 - rate)
        flips = (counts + even) / (counts.sum(0) + 1)
    return flips


def posterior(p: np.ndarray, labels: np.ndarray, flips: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the chance that each label is wrong, and the most probable other class that has images."""
    weights = p * np.maximum(flips, 1e-12)[labels]
    weights /= np.maximum(weights.sum(1, keepdims=True), 1e-12)
    chance = 1 - of_label(weights, labels)
    weights[:, np.bincount(labels, minlength=p.shape[1]) == 0] = -np.inf
    weights[np.arange(len(labels)), labels] = -np.inf
    return chance, weights.argmax(1)
