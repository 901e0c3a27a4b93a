"""A run that was trained again beside the one that is reported."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from warlab.errors import WarlabError
from warlab.reporting.read.results import CELL, EPOCH, finished, read_csv

LAST = 10
TOLERANCE = 2.0  # points: another processor rounds otherwise, and training magnifies it


def compare(runs: pd.DataFrame, metrics: Path, run: str) -> dict[str, Any]:
    """Both accuracies epoch by epoch; more than TOLERANCE between the means of the last ten epochs is an error."""
    reported, again = _reported(runs, run), read_csv(metrics, EPOCH)["test_accuracy"].to_numpy(float)
    if len(reported) != len(again):
        raise WarlabError(
            f"The run {run} is reported with {len(reported)} epochs and was trained again with {len(again)}; "
            "choose the scale that the reported runs were made with."
        )
    largest = float(np.nanmax(np.abs(reported - again)))  # some epochs may be left untested
    means = [float(values[-LAST:].mean()) for values in (reported, again)]
    difference = means[1] - means[0]
    if abs(difference) > TOLERANCE:
        raise WarlabError(
            f"The run {run} is reported at {means[0]:.2f} % and reached {means[1]:.2f} % when trained again; "
            "compare data, noise and versions of both before you trust either."
        )
    same = "the same in every epoch" if largest == 0 else f"at most {largest:.2f} points apart in any epoch"
    sentence = f"{run}: reported {means[0]:.2f} %, trained again {means[1]:.2f} %, {same}."
    return {"run": run, "reported": means[0], "again": means[1], "largest": largest, "sentence": sentence}


def _reported(runs: pd.DataFrame, run: str) -> np.ndarray:
    *cell, seed = run.split("/")
    chosen = finished(runs)
    for kind, value in zip(CELL, cell, strict=True):
        chosen = chosen[chosen[kind] == value]
    chosen = chosen[chosen["seed"] == int(seed.removeprefix("seed"))].sort_values("epoch")
    if chosen.empty:
        raise WarlabError(f"The run {run} is not among the reported ones; give another one with --config verify=1.")
    return chosen["test_accuracy"].to_numpy(float)
