"""How well a score finds wrong labels, where it is known which labels are wrong."""

import numpy as np


def auroc(score: np.ndarray, wrong: np.ndarray) -> float:
    """Return the probability that a wrong label has a higher score than a right one; ties count one half. It is NaN if
    all labels are wrong or all are right."""
    n_wrong, n_right = int(wrong.sum()), int((~wrong).sum())
    if not n_wrong or not n_right:
        return float("nan")
    _, inverse, counts = np.unique(score, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]  # equal scores have their mean rank
    return float((ranks[wrong].sum() - n_wrong * (n_wrong + 1) / 2) / (n_wrong * n_right))


def average_precision(score: np.ndarray, wrong: np.ndarray) -> float:
    """Return the mean precision over the wrong labels, with equal scores taken together; NaN if there are none."""
    if not wrong.any():
        return float("nan")
    order = np.argsort(-score, kind="stable")
    last = np.append(np.diff(score[order]) != 0, True)  # the last sample of each group of equal scores
    found = np.cumsum(wrong[order])[last]
    precision = found / (np.flatnonzero(last) + 1)
    return float((np.diff(found, prepend=0) * precision).sum() / wrong.sum())


def precision_at_errors(score: np.ndarray, wrong: np.ndarray) -> float:
    """Return the share of wrong labels among the n most suspicious ones, where n is the number of wrong labels."""
    n = int(wrong.sum())
    return float(wrong[np.argsort(-score, kind="stable")[:n]].mean()) if n else float("nan")


METRICS = {"auroc": auroc, "average_precision": average_precision, "precision": precision_at_errors}
