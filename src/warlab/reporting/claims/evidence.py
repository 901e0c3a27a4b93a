"""The numbers by which claims are judged: ours, with what is known about their uncertainty, or the paper's."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypedDict

import numpy as np
import pandas as pd

from warlab.common.readings import LAST
from warlab.reporting.names import Labels
from warlab.reporting.read import results
from warlab.reporting.read.artefacts import Timing
from warlab.reporting.read.numbers import Number, collect_numbers
from warlab.reporting.read.predictions import Predictions
from warlab.reporting.read.results import ACCURACY, CELL, RUN, SETTING, Scenario

SECONDS = "seconds_per_epoch"


class Proposition(TypedDict):
    """The result of `warlab.ot.propositions` for one statement."""

    holds: bool
    trials: int
    failed: int
    largest: float


@dataclass(frozen=True)
class Evidence:
    """Numbers by setting and method; `number` does not return those from stand-in data."""

    numbers: Mapping[tuple[Scenario, str], Number]
    labels: Labels
    propositions: Mapping[str, Proposition] = field(default_factory=dict)

    def number(self, setting: Scenario, method: str) -> Number | None:
        number = self.numbers.get((setting, method))
        return number if number and number.data == "real" and not math.isnan(number.mean) else None


def load_evidence(
    runs: pd.DataFrame,
    labels: Labels,
    propositions: Mapping[str, Proposition],
    last: Mapping[str, int] | None = None,
    predictions: Predictions | None = None,
    tested_on: Mapping[str, int] | None = None,
) -> Evidence:
    """Return every metric that the runs log, averaged as in the tables, and the other readings of the test accuracy.

    last       over how many epochs the table of a dataset averages, if not ten
    tested_on  the number of test samples of a dataset
    """
    epochs = dict.fromkeys(runs["dataset"].unique(), LAST) | dict(last or {})
    metrics = [column for column in runs.columns if column not in (*RUN, "epoch") and runs[column].dtype != object]
    means = pd.concat(
        results.last_epochs(part, metrics, epochs[str(dataset)])["mean"].rename("value").reset_index()
        for dataset, part in runs.groupby("dataset", sort=False)
    ).merge(runs[list(RUN)].drop_duplicates([*CELL, "seed"]), on=[*CELL, "seed"])
    others = results.readings(results.complete_cells(runs)).drop(columns="metric")
    others = others.melt(list(RUN), list(results.READINGS[1:]), "metric", "value").dropna(subset="value")
    long = pd.concat([means, others], ignore_index=True)
    is_read = [long["metric"] == ACCURACY, long["metric"] == "last"]  # what predictions can say
    long = long.assign(run=results.run_ids(long), epochs=np.select(is_read, [long["dataset"].map(epochs), 1], 0))
    numbers = collect_numbers(long, "value", predictions or {}, tested_on or {})
    by_cell = {(at, method): number for at, cells in numbers.items() for method, number in cells.items()}
    return Evidence(by_cell, labels, propositions)


def add_times(evidence: Evidence, timed: Iterable[Timing], stands_for: Mapping[str, Sequence[str]]) -> Evidence:
    """Add the measured seconds per epoch, on random images, which take as long as any others. Seconds of trainings
    are no evidence: other processes share the machine with them.

    `stands_for` names the methods that take as long as a timed one.
    """
    numbers = dict(evidence.numbers)
    for entry in timed:
        setting = Scenario(entry["dataset"], entry["noise"], entry["net"], SECONDS)
        for method, times in entry["seconds"].items():
            number = Number(
                float(times["epoch"]),
                source=f"timing/{setting.dataset}/{setting.net}.json",
                error=float(times.get("error", math.nan)),
                basis="timed steps" if "error" in times else "",
            )
            numbers |= {(setting, same): number for same in (method, *stands_for.get(method, ()))}
    return replace(evidence, numbers=numbers)


def paper_evidence(published: pd.DataFrame, labels: Labels) -> Evidence:
    """Return the paper's own tables, `results.read_published` with the claim's experiment first."""
    columns = [*SETTING, "metric", "method", "mean", "experiment"]
    rows = published.drop_duplicates([*CELL, "metric"])[columns].itertuples(index=False)
    numbers = {
        (Scenario(*map(str, key)), str(method)): Number(float(mean), source=f"paper: {experiment}", printed=True)
        for *key, method, mean, experiment in rows
    }
    return Evidence(numbers, labels)
