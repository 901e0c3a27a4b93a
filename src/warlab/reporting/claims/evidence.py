"""The numbers that claims are judged by: ours, or the paper's own, asked for in the same way."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypedDict

import pandas as pd

from warlab.reporting.read.artefacts import Timing
from warlab.reporting.read.predictions import Kept
from warlab.reporting.read.results import CELL, LAST, RUN, complete, last_epochs, run_ids, under_other_names
from warlab.reporting.setting import ACCURACY, SETTING, Setting
from warlab.reporting.stats.intervals import Number
from warlab.reporting.stats.over_settings import READINGS, readings
from warlab.reporting.stats.pairs import number_of
from warlab.reporting.tables.labels import Labels

OTHERS = READINGS[1:]  # beside the mean of the last epochs; as this, shares of the test images


class Proposition(TypedDict):
    """What `warlab.ot.propositions` found for one statement."""

    holds: bool
    trials: int
    failed: int
    largest: float


@dataclass(frozen=True)
class Evidence:
    """What a claim may ask. Cells that ran on stand-in data are there, but `number` does not give them."""

    numbers: Mapping[tuple[Setting, str], Number]
    labels: Labels
    propositions: Mapping[str, Proposition] = field(default_factory=dict)

    def number(self, setting: Setting, method: str) -> Number | None:
        found = self.numbers.get((setting, method))
        return found if found and found.data == "real" and not math.isnan(found.mean) else None


def of_runs(
    runs: pd.DataFrame,
    aliases: Iterable[Sequence[str]],
    labels: Labels,
    propositions: Mapping[str, Proposition],
    last: Mapping[str, int] | None = None,
    kept: Kept | None = None,
    tested_on: Mapping[str, int] | None = None,
) -> Evidence:
    """Every metric that the runs log, read as the tables do, and the other readings of the test accuracy.

    last       how many epochs the table of a dataset reads, where not ten; tested_on: its number of test images
    kept       the predictions of the runs
    """
    if "seconds" in runs and "seconds_per_epoch" not in runs:  # of each epoch; the last ten are no warm-up
        runs = runs.assign(seconds_per_epoch=runs["seconds"])
    epochs = dict.fromkeys(runs["dataset"].unique(), LAST) | dict(last or {})
    long = under_other_names(_per_run(runs, epochs), aliases)
    numbers = {}
    for (*key, method, metric), group in long.groupby([*CELL, "metric"], sort=False):
        setting = Setting(*map(str, [*key, metric]))
        on = (tested_on or {}).get(setting.dataset, 0) if metric in (ACCURACY, *OTHERS) else 0
        read = {ACCURACY: epochs[setting.dataset], "last": 1}.get(str(metric), 0)
        numbers[setting, str(method)] = number_of(group, "value", kept or {}, read, on)
    return Evidence(numbers, labels, propositions)


def _per_run(runs: pd.DataFrame, epochs: Mapping[str, int]) -> pd.DataFrame:
    """A row per run and metric with its value: the mean over the last epochs, as many as the dataset's entry says.

    A run that is missing, or an epoch without a number, makes an empty value.
    """
    metrics = [column for column in runs.columns if column not in (*RUN, "epoch") and runs[column].dtype != object]
    parts = [
        last_epochs(part, metrics, epochs[str(dataset)])["mean"].rename("value").reset_index()
        for dataset, part in runs.groupby("dataset", sort=False)
    ]
    kinds = runs[list(RUN)].drop_duplicates([*CELL, "seed"])
    means = pd.concat(parts, ignore_index=True).merge(kinds, on=[*CELL, "seed"])
    read = readings(complete(runs)).drop(columns="metric").melt(list(RUN), list(OTHERS), "metric", "value")
    long = pd.concat([means, read[read["value"].notna()]], ignore_index=True)
    return long.assign(run=run_ids(long))


def with_times(evidence: Evidence, timed: Iterable[Timing], stands_for: Mapping[str, Sequence[str]]) -> Evidence:
    """The evidence and the measured seconds per epoch, on random images, which take as long as any others.

    `stands_for` names the methods that take as long as a timed one.
    """
    numbers = dict(evidence.numbers)
    for entry in timed:
        setting = Setting(entry["dataset"], entry["noise"], entry["net"], "seconds_per_epoch")
        for method, times in entry["seconds"].items():
            found = Number(
                float(times["epoch"]),
                source=f"timing/{setting.dataset}/{setting.net}.json",
                error=float(times.get("error", math.nan)),
                basis="timed steps" if "error" in times else "",
            )
            numbers |= {(setting, same): found for same in (method, *stands_for.get(method, ()))}
    return replace(evidence, numbers=numbers)


def of_paper(published: pd.DataFrame, labels: Labels) -> Evidence:
    """The paper's own tables, `results.read_published` with the claim's experiment first."""
    columns = [*SETTING, "metric", "method", "mean", "experiment"]
    rows = published.drop_duplicates([*CELL, "metric"])[columns].itertuples(index=False)
    numbers = {
        (Setting(*map(str, key)), str(method)): Number(float(mean), source=f"paper: {experiment}", printed=True)
        for *key, method, mean, experiment in rows
    }
    return Evidence(numbers, labels)
