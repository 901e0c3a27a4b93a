"""Scores of label maps from their confusion matrix, in percent: F1 per class, their average, overall accuracy."""

from collections.abc import Mapping

import numpy as np

CONFUSED = np.ndarray  # (C, C) counts: row = true class, column = predicted class


def confusion(truth: np.ndarray, predicted: np.ndarray, classes: int) -> CONFUSED:
    pairs = truth.reshape(-1).astype(np.int64) * classes + predicted.reshape(-1)
    return np.bincount(pairs, minlength=classes**2).reshape(classes, classes)


def f1(counts: CONFUSED) -> np.ndarray:
    """2 TP / (2 TP + FP + FN) per class; 100 for a class that is neither there nor predicted."""
    right = counts.diagonal().astype(float)
    both = counts.sum(0) + counts.sum(1)
    return 100 * np.divide(2 * right, both, out=np.ones_like(right), where=both > 0)


def overall_accuracy(counts: CONFUSED) -> float:
    """The share of all pixels, those of unscored classes included, whose class is right."""
    return 100 * float(counts.diagonal().sum() / counts.sum())


def scores(counts: CONFUSED, scored: Mapping[int, str]) -> dict[str, float]:
    """`scored` names the metric of each class that is reported. All classes count as what a pixel may be taken for."""
    per_class = f1(counts)
    named = {name: float(per_class[label]) for label, name in scored.items()}
    return {**named, "f1_average": float(np.mean(list(named.values()))), "overall_accuracy": overall_accuracy(counts)}
