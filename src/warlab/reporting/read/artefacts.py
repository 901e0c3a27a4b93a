"""Files of other steps: their paths, and measured times and predicted maps, which have no type in warlab.artefacts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import numpy as np

from warlab.artefacts.labelled_data import DataDescription
from warlab.artefacts.run_config import TimingSpec
from warlab.common.files import read_arrays
from warlab.ids import RunId


def paths_by_role(files: Mapping[str, str | Sequence[str]]) -> dict[str, list[Path]]:
    """Return the paths of each role of a job's inputs as a list; Snakemake names a single file by its path alone."""
    return {
        role: [Path(path) for path in ([given] if isinstance(given, str) else given)] for role, given in files.items()
    }


def held_out(described: Iterable[DataDescription]) -> list[str]:
    """Return the datasets whose test labels are as noisy as those that came with the data."""
    return [about.dataset for about in described if not about.clean_test]


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
