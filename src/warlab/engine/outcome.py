"""What a finished training is summed up to: readings of its accuracy, kept predictions, the record of its labels."""

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from warlab.artefacts.run_config import RunConfig
from warlab.audit.record import Means
from warlab.common.readings import LAST
from warlab.engine.train import Row, Trainer
from warlab.engine.validation import training_part


def summary(rows: list[Row]) -> dict[str, float]:
    """The readings of a run: mean and spread of the last ten epochs (the paper's), last, and best on test,
    which is a diagnostic only, since no one may choose an epoch by test labels."""
    accuracy = np.array([row["test_accuracy"] for row in rows if "test_accuracy" in row])
    return {
        "last10_mean": float(accuracy[-LAST:].mean()),
        "last10_std": float(accuracy[-LAST:].std()),
        "last": float(accuracy[-1]),
        "best_on_test_diagnostic": float(accuracy.max()),
    }


def test_predictions(recent: Sequence[Tensor], epochs: int) -> dict[str, np.ndarray]:
    """`predictions` (E, M, N): the predicted class of each test image in the last E epochs, by each of M networks, and
    `epochs` (E,), counted from 1. E is 0 where predictions are not kept, as of tiles."""
    kept = np.stack([one.numpy() for one in recent]) if recent else np.empty((0, 0, 0), np.uint8)
    return {"predictions": kept, "epochs": np.arange(epochs - len(recent), epochs) + 1}


def label_record(trainer: Trainer, run: RunConfig, total: int) -> Means:
    """Means of what the networks said of every training sample; those of a validation split were never seen."""
    means, share = trainer.listener.means(), run.training.get("validation", 0.0)
    return means.among(training_part(total, share, run.seed), total) if share else means
