"""Suspicion scores of training samples from their mean predictions: a higher score is more suspicious.

For a sample with given label y, logits z and probabilities p, and with a bar for the mean over the epochs:

    margin      mean of max_{c != y} z_c - z_y        the area under the margin (AUM) of Pleiss et al., 2020, negated
    loss        mean of -log p_y
    confident   max_{c != y} (p̄_c - t_c) - (p̄_y - t_y),   t_c = mean of p̄_c over the samples that are labelled c
                the off-diagonal of confident learning (Northcutt et al., 2021) as a margin: it is above 0 if another
                class exceeds its threshold by more than the label does
    transport   sum_c C[y, c] p̄_c                     what it costs to move the label to the mean prediction
    combined    z(confident) + z(margin - its mean over the samples labelled y),   z(s) = (s - mean) / deviation;
                both calibrated by class, so that a class that is hard to learn is not suspected as a whole

`transport` is the exact optimal transport between onehot(y) and p̄ under the ground cost C: from a single class there
is only one plan. With the 0-1 cost it is 1 - p̄_y. WAR's costs are large between similar classes, so that a likely
confusion has a higher score than an unlikely one; the predictions of a network that was trained with WAR are smoothed
by the same transport.
"""

from typing import Any

import numpy as np

from warlab.audit.record import Means
from warlab.errors import WarlabError

SCORES = ("combined", "margin", "loss", "confident", "transport")
DEFAULT = "combined"  # the best score in docs/evidence/audit, or as good as the best


def thresholds(means: Means) -> np.ndarray:
    """t (C,) of the formulas above; infinite for a class without samples, which nothing can exceed."""
    of_label = means.probabilities[np.arange(len(means.labels)), np.maximum(means.labels, 0)]
    return _mean_by_label(of_label, means, np.inf)


def _mean_by_label(values: np.ndarray, means: Means, otherwise: float) -> np.ndarray:
    """Return the means (C,) of values (N,) over the samples of each label; `otherwise` for a class without samples."""
    seen = means.seen > 0
    sums, counts = (
        np.bincount(means.labels[seen], weights, means.probabilities.shape[1]) for weights in (values[seen], None)
    )
    return np.where(counts > 0, sums / np.maximum(counts, 1), otherwise)


def confident(predictions: np.ndarray, labels: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """Return the score `confident` of the formulas above, (N,)."""
    above, rows = predictions - thresholds, np.arange(len(labels))
    of_label = above[rows, labels]
    above[rows, labels] = -np.inf
    return above.max(1) - of_label


def scores(means: Means, cost: Any = None) -> dict[str, np.ndarray]:
    """Return the scores by name, (N,) float32; NaN for a sample that was never seen. The default is the 0-1 cost."""
    bad = np.flatnonzero((means.seen > 0) & ~(np.isfinite(means.margin) & np.isfinite(means.loss)))
    if len(bad):
        raise WarlabError(
            f"The logits of {len(bad)} samples were not finite numbers, first those of sample {bad[0]}; "
            "look at the training, which has diverged."
        )
    classes = means.probabilities.shape[1]
    ground = _ground_cost(cost, classes)
    label, seen = np.maximum(means.labels, 0), means.seen > 0
    above_threshold, margin = confident(means.probabilities, label, thresholds(means)), -means.margin
    table = {
        "combined": _standard(above_threshold, seen)
        + _standard(margin - _mean_by_label(margin, means, 0)[label], seen),
        "margin": margin,
        "loss": means.loss,
        "confident": above_threshold,
        "transport": (ground[label] * means.probabilities).sum(1),
    }
    return {name: np.where(seen, values, np.nan).astype(np.float32) for name, values in table.items()}


def _standard(values: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """z of the formulas above, over the samples that were seen; 0 if all values are equal."""
    known = values[seen].astype(np.float64)
    if not len(known) or not known.std() > 0:
        return np.zeros(len(values))
    return (values - known.mean()) / known.std()


def suggested(means: Means) -> np.ndarray:
    """Return the class (N,) whose mean probability is farthest above its threshold, argmax_c p̄_c - t_c. It differs from
    the label where `confident` is above 0. A sample that was never seen keeps its label."""
    seen = means.seen > 0
    above = np.where(seen[:, None], means.probabilities - thresholds(means), 0)
    return np.where(seen, above.argmax(1), means.labels)


def suspects(means: Means, by: str = DEFAULT, cost: Any = None) -> np.ndarray:
    """Return the samples whose suggested label differs from the given one, most suspicious first.

    The columns of the structured array are index, label, suggested, and all scores.
    """
    if by not in SCORES:
        raise WarlabError(f"Samples can be ordered by {', '.join(SCORES)}, not by {by!r}.")
    score, other = scores(means, cost), suggested(means)
    index = np.flatnonzero((other != means.labels) & (means.seen > 0))
    order = index[np.argsort(-score[by][index], kind="stable")]
    columns = {"index": order, "label": means.labels[order], "suggested": other[order]}
    columns |= {name: values[order] for name, values in score.items()}
    table = np.empty(len(order), [(name, values.dtype) for name, values in columns.items()])
    for name, values in columns.items():
        table[name] = values
    return table


def _ground_cost(cost: Any, classes: int) -> np.ndarray:
    """Return the cost as an array (C, C) of float64."""
    if cost is None:
        return 1 - np.eye(classes)
    array = np.asarray(cost.detach().cpu() if hasattr(cost, "detach") else cost, np.float64)
    if array.shape != (classes, classes) or not np.isfinite(array).all():
        raise WarlabError(f"The ground cost must be {classes} × {classes} finite numbers, not {array.shape}.")
    if np.diagonal(array).any():
        raise WarlabError("The cost of staying in a class must be 0: the diagonal of the cost matrix is not zero.")
    return array
