"""Test predictions of finished runs in their last epochs.

Training keeps test_predictions.npz in the folder of the run: `predictions` (E, M, N), the class that each of M networks
gives to each of N test images in the last E epochs. Evidence that replaces training has one file of that name with an
array per run, named by the run's id, and the true classes as `labels/<dataset>`. Older evidence has no predictions.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from warlab.common.files import read_arrays
from warlab.errors import WarlabError
from warlab.ids import RunId

FILE = "test_predictions.npz"
LABELS = "labels/"
Predictions = Mapping[str, np.ndarray]  # predictions by the id of a run, and true classes by labels/<dataset>


def correct_answers(predictions: Predictions, run: str) -> np.ndarray | None:
    """Return whether each network was right (E, M, N) in the last epochs; None if the run has no predictions."""
    predicted, labels = predictions.get(run), predictions.get(LABELS + RunId.parse(run).dataset)
    if predicted is None or labels is None or predicted.size == 0:  # empty for runs on tiles
        return None
    if predicted.ndim != 3 or predicted.shape[2] != len(labels):
        raise WarlabError(
            f"The test predictions of {run} have the shape {predicted.shape}, but there are {len(labels)} test "
            "labels; delete the run's folder and train it again."
        )
    return predicted == labels


def read_predictions(files: Sequence[str | Path]) -> Predictions:
    """Read the one file for all runs; without a file there are no predictions."""
    return read_arrays(Path(files[0])) if files else {}


def collect_predictions(source: Path, runs: Iterable[str]) -> dict[str, np.ndarray]:
    """Return the predictions of those runs in the results folder `source` that have some, and the true classes."""
    files = {run: source / "runs" / run / FILE for run in runs}
    predictions = {run: _array(file, "predictions") for run, file in files.items() if file.is_file()}
    predictions = {run: array for run, array in predictions.items() if array.size}
    datasets = dict.fromkeys(RunId.parse(run).dataset for run in predictions)
    labels = {LABELS + name: _array(source / "data" / f"{name}.npz", "test_y") for name in datasets}
    small = {name: array.astype(np.uint16 if array.max() > 255 else np.uint8) for name, array in labels.items()}
    return predictions | small


def _array(file: Path, name: str) -> np.ndarray:
    return read_arrays(file, name)[name]
