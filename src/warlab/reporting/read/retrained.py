"""A run that was trained again, compared with the reported one."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from warlab.errors import WarlabError
from warlab.reporting.read.results import EPOCH, LAST, finished, read_csv, run_ids

TOLERANCE = 2.0  # points: another processor rounds differently, and training magnifies it


class Retrained(NamedTuple):
    run: str
    reported: float
    again: float
    largest: float  # difference in any epoch
    sentence: str


def compare(runs: pd.DataFrame, metrics: Path, run: str) -> Retrained:
    """Both accuracies epoch by epoch; more than TOLERANCE between the means of the last ten epochs is an error."""
    reported, again = _reported(runs, run), read_csv(metrics, EPOCH)["test_accuracy"].to_numpy(float)
    if len(reported) != len(again):
        raise WarlabError(
            f"The run {run} is reported with {len(reported)} epochs and was trained again with {len(again)}; "
            "choose the scale that the reported runs were made with."
        )
    largest = float(np.nanmax(np.abs(reported - again)))  # some epochs may be left untested
    before, after = (float(values[-LAST:].mean()) for values in (reported, again))
    if abs(after - before) > TOLERANCE:
        raise WarlabError(
            f"The run {run} is reported at {before:.2f} % and reached {after:.2f} % when trained again; "
            "compare data, noise and versions of both before you trust either."
        )
    same = "the same in every epoch" if largest == 0 else f"at most {largest:.2f} points apart in any epoch"
    sentence = f"{run}: reported {before:.2f} %, trained again {after:.2f} %, {same}."
    return Retrained(run, before, after, largest, sentence)


def _reported(runs: pd.DataFrame, run: str) -> np.ndarray:
    done = finished(runs)
    chosen = done[np.array(run_ids(done)) == run].sort_values("epoch")
    if chosen.empty:
        raise WarlabError(f"The run {run} is not among the reported ones; give another one with --config verify=1.")
    return chosen["test_accuracy"].to_numpy(float)
