"""Files of other steps that have no type in warlab.artefacts: measured times and predicted maps."""

from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import numpy as np

from warlab.artefacts.run_config import TimingSpec
from warlab.common.files import read_arrays
from warlab.ids import RunId


class Timing(TypedDict):
    """Measured times: method → epoch, step and error in seconds; `spec` is what was timed."""

    dataset: str
    noise: str
    net: str
    seconds: dict[str, dict[str, float]]
    spec: TimingSpec


@dataclass(frozen=True)
class PredictedMap:
    """The classes that a run predicts for all pixels of the test tiles."""

    run: RunId
    labels: np.ndarray

    @classmethod
    def load(cls, path: Path) -> "PredictedMap":
        """Read labels.npz; the id of the run is the end of its folder's path."""
        return cls(RunId.parse(str(path.parent)), read_arrays(path)["labels"])
