"""What the networks of finished runs say of each test image in their last epochs.

Training keeps test_predictions.npz in the folder of the run: `predictions` (E, M, N), the class that each of M networks
gives to each of N test images in the last E epochs. Evidence that stands in place of training has one file of that name
with an array per run, named by its id, and the true classes as `labels/<dataset>`. Older evidence has none.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from warlab.common.files import read_arrays
from warlab.errors import WarlabError
from warlab.ids import RunId

FILE = "test_predictions.npz"
LABELS = "labels/"
Kept = Mapping[str, np.ndarray]  # predictions by the id of a run, and true classes by labels/<dataset>


def right_answers(kept: Kept, run: str) -> np.ndarray | None:
    """Whether each network was right (E, M, N) in each of the last epochs; None where nothing is kept of the run."""
    predicted, labels = kept.get(run), kept.get(LABELS + RunId.parse(run).dataset)
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
    return read_arrays(Path(files[0])) if files else {}


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
