"""What the networks of finished runs say of each test image in their last epochs.

Training keeps test_predictions.npz in the folder of the run: `predictions` (E, M, N), the class that each of M networks
gives to each of N test images in the last E epochs. Evidence that stands in place of training has one file of that name
with an array per run, named by its id, and the true classes as `labels/<dataset>`. Older evidence has none.
"""

import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
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
    """Predictions (E, M, N) by the id of a run, and the true classes (N,) by dataset; a run may have none."""

    predictions: Mapping[str, Callable[[], np.ndarray]] = field(default_factory=dict)
    labels: Mapping[str, np.ndarray] = field(default_factory=dict)

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, np.ndarray]) -> "Kept":
        """Of what `collect_predictions` gathered."""
        labels = {name.removeprefix(LABELS): array for name, array in arrays.items() if name.startswith(LABELS)}
        runs = {name: array.view for name, array in arrays.items() if not name.startswith(LABELS)}
        return cls(runs, labels)

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
        labels = self.labels.get(RunId.parse(run).dataset)
        if run not in self.predictions or labels is None:
            return None
        predicted = self.predictions[run]()
        if predicted.size == 0:  # of tiles
            return None
        if predicted.ndim != 3 or predicted.shape[2] != len(labels):
            raise WarlabError(
                f"The test predictions of {run} have the shape {predicted.shape}, but there are {len(labels)} test "
                "labels; delete the run's folder and train it again."
            )
        return predicted == labels


def read_any(files: Sequence[str | Path]) -> Kept:
    """Of one file for all runs; nothing of evidence that has no predictions."""
    return read_collected(Path(files[0])) if files else Kept()


def read_collected(file: Path) -> Kept:
    return Kept.of_arrays(read_arrays(file))


def collect_predictions(source: Path, runs: Iterable[str]) -> dict[str, np.ndarray]:
    """The arrays of one file for these runs of the finished scale in `source`; a run without predictions is left out.
    Write them with `files.write_arrays`."""
    files = {run: source / "runs" / run / FILE for run in runs}
    found = {run: _member(file, "predictions") for run, file in files.items() if file.is_file()}
    found = {run: array for run, array in found.items() if array.size}
    datasets = dict.fromkeys(RunId.parse(run).dataset for run in found)
    labels = {f"{LABELS}{name}": _member(source / "data" / f"{name}.npz", "test_y") for name in datasets}
    return found | {name: array.astype(np.uint16 if array.max() > 255 else np.uint8) for name, array in labels.items()}


def _member(file: Path, name: str) -> np.ndarray:
    """One array of an npz file; its other arrays, such as the images, are not read."""
    try:
        with np.load(file, allow_pickle=False) as arrays:
            return arrays[name]
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise WarlabError(f"{file} has no readable array {name!r} ({error}); delete it and run again.") from error
