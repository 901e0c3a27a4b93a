"""What the networks of finished runs say of each test image in their last epochs.

Training keeps test_predictions.npz in the folder of the run: `predictions` (E, M, N), the class that each of M networks
gives to each of N test images in the last E epochs. Evidence that stands in place of training has one file of that name
with an array per run, named by its id, and the true classes as `labels/<dataset>`. Older evidence has none.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from warlab.common.files import read_arrays
from warlab.errors import WarlabError
from warlab.ids import RunId
from warlab.reporting.read.results import LAST

FILE = "test_predictions.npz"
LABELS = "labels/"


@dataclass(frozen=True)
class Kept:
    """What `collect_predictions` gathered: predictions (E, M, N) by the id of a run, and the true classes (N,) by
    labels/<dataset>; a run may have none."""

    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)

    def correct(self, run: str, last: int = LAST) -> np.ndarray | None:
        """The share (N,) of right answers to each image, over the last epochs and the networks."""
        right = self._right(run)
        return None if right is None else right[-last:].mean((0, 1))

    def at_the_end(self, run: str) -> np.ndarray | None:
        """Whether the first network was right (N,) after the last epoch."""
        right = self._right(run)
        return None if right is None else right[-1, 0]

    def _right(self, run: str) -> np.ndarray | None:
        """(E, M, N) bool"""
        predicted, labels = self.arrays.get(run), self.arrays.get(LABELS + RunId.parse(run).dataset)
        if predicted is None or labels is None or predicted.size == 0:  # of tiles it is empty
            return None
        if predicted.ndim != 3 or predicted.shape[2] != len(labels):
            raise WarlabError(
                f"The test predictions of {run} have the shape {predicted.shape}, but there are {len(labels)} test "
                "labels; delete the run's folder and train it again."
            )
        return predicted == labels


def read_kept(files: Sequence[str | Path]) -> Kept:
    """Of one file for all runs; nothing of evidence that has no predictions."""
    return Kept(read_arrays(Path(files[0]))) if files else Kept()


def collect_predictions(source: Path, runs: Iterable[str]) -> dict[str, np.ndarray]:
    """The arrays of one file for these runs of the finished scale in `source`; a run without predictions is left out.
    Write them with `files.write_arrays`."""
    files = {run: source / "runs" / run / FILE for run in runs}
    found = {run: _array(file, "predictions") for run, file in files.items() if file.is_file()}
    found = {run: array for run, array in found.items() if array.size}
    datasets = dict.fromkeys(RunId.parse(run).dataset for run in found)
    labels = {LABELS + name: _array(source / "data" / f"{name}.npz", "test_y") for name in datasets}
    return found | {name: array.astype(np.uint16 if array.max() > 255 else np.uint8) for name, array in labels.items()}


def _array(file: Path, name: str) -> np.ndarray:
    return read_arrays(file, name)[name]
