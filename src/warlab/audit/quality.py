"""How well a score finds wrong labels, where it is known which labels are wrong.

`score` is one number per sample, higher where a label is more suspicious; `wrong` is true, or 1, where the label is
wrong. Both are arrays, tensors or lists. A score of NaN, which samples have that were never seen, is refused.
"""

import numpy as np
from numpy.typing import ArrayLike

from warlab.errors import WarlabError


def auroc(score: ArrayLike, wrong: ArrayLike) -> float:
    """Return the probability that a wrong label has a higher score than a right one; ties count one half. It is NaN if
    all labels are wrong or all are right."""
    score, wrong = _check(score, wrong)
    n_wrong, n_right = int(wrong.sum()), int((~wrong).sum())
    if not n_wrong or not n_right:
        return float("nan")
    _, inverse, counts = np.unique(score, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]  # equal scores have their mean rank
    return float((ranks[wrong].sum() - n_wrong * (n_wrong + 1) / 2) / (n_wrong * n_right))


def average_precision(score: ArrayLike, wrong: ArrayLike) -> float:
    """Return the mean precision over the wrong labels, with equal scores taken together; NaN if there are none."""
    score, wrong = _check(score, wrong)
    if not wrong.any():
        return float("nan")
    order = np.argsort(score, kind="stable")[::-1]
    last = np.append(score[order][1:] != score[order][:-1], True)  # the last sample of each group of equal scores
    found = np.cumsum(wrong[order])[last]
    precision = found / (np.flatnonzero(last) + 1)
    return float((np.diff(found, prepend=0) * precision).sum() / wrong.sum())


def precision_at_errors(score: ArrayLike, wrong: ArrayLike) -> float:
    """Return the share of wrong labels among the n most suspicious ones, where n is the number of wrong labels."""
    score, wrong = _check(score, wrong)
    n = int(wrong.sum())
    return float(wrong[np.argsort(-score, kind="stable")[:n]].mean()) if n else float("nan")


def _check(score: ArrayLike, wrong: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores as float64 and the mask as booleans, (N,) each."""
    values, mask = np.asarray(score), np.asarray(wrong)
    if values.ndim != 1 or values.shape != mask.shape or values.dtype.kind not in "biuf":
        raise WarlabError(
            f"The quality of a score takes N numbers and N flags, not shapes {values.shape} and {mask.shape} "
            f"of type {values.dtype}."
        )
    if np.isnan(values.astype(np.float64)).any():
        raise WarlabError(
            f"{int(np.isnan(values).sum())} of {len(values)} scores are NaN, as those of samples that were never seen "
            "are; leave them out: score[seen], wrong[seen] with seen = ~numpy.isnan(score)."
        )
    if mask.dtype.kind not in "biuf" or not np.isin(mask, (0, 1)).all():
        raise WarlabError("The second argument says which labels are wrong: give booleans, or 0 and 1.")
    return values.astype(np.float64), mask.astype(bool)


METRICS = {"auroc": auroc, "average_precision": average_precision, "precision": precision_at_errors}
