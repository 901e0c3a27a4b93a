"""The numbers that claims are judged by: ours, or the paper's own, asked for in the same way."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from warlab.reporting.read.predictions import Kept
from warlab.reporting.read.results import CELL, complete, under_other_names
from warlab.reporting.stats.intervals import Number
from warlab.reporting.stats.over_settings import LAST, readings
from warlab.reporting.tables.labels import Labels, name

Propositions = Mapping[str, Mapping[str, Any]]
RUN = [*CELL, "seed", "data", "run"]
NOT_METRICS = {*RUN, "epoch"}
READINGS = ("last", "best_on_test_diagnostic", "best_by_noisy_validation")
ACCURACIES = ("test_accuracy", *READINGS)  # shares of the test images


class Setting(NamedTuple):
    dataset: str
    noise: str
    net: str
    metric: str


class Evidence:
    """What a claim may ask. Cells that ran on stand-in data are there, but `number` does not give them."""

    def __init__(
        self,
        numbers: Mapping[tuple[Setting, str], Number],
        labels: Labels,
        propositions: Propositions | None = None,
    ) -> None:
        self.numbers = numbers
        self.labels = labels
        self.propositions = propositions or {}

    def number(self, setting: Setting, method: str) -> Number | None:
        found = self.numbers.get((setting, method))
        return found if found and found.data == "real" and not math.isnan(found.mean) else None

    def is_stand_in(self, setting: Setting, method: str) -> bool:
        found = self.numbers.get((setting, method))
        return found is not None and found.data == "stand-in"

    def methods(self, setting: Setting, prefix: str) -> list[str]:
        """The methods that ran in a setting and whose id begins so, such as war_random."""
        return sorted(method for at, method in self.numbers if at == setting and method.startswith(prefix))

    def where(self, setting: Setting) -> str:
        metric = [] if setting.metric == "test_accuracy" else [setting.metric.replace("_", " ")]
        names = [name(self.labels, kind, getattr(setting, kind)) for kind in ("dataset", "noise", "net")]
        return ", ".join([*names, *metric])

    def called(self, method: str) -> str:
        return name(self.labels, "method", method)


def of_runs(
    runs: pd.DataFrame,
    aliases: Iterable[Sequence[str]],
    labels: Labels,
    propositions: Propositions,
    last: Mapping[str, int] | None = None,
    kept: Kept | None = None,
    tested_on: Mapping[str, int] | None = None,
) -> Evidence:
    """Every metric that the runs log, read as the tables do, and the other readings of the test accuracy.

    last       how many epochs the table of a dataset reads, where not ten; tested_on: its number of test images
    kept       the predictions of the runs
    """
    epochs = dict.fromkeys(runs["dataset"].unique(), LAST) | dict(last or {})
    long = under_other_names(per_run(_with_seconds(runs), epochs), list(aliases))
    numbers = {}
    for key, group in long.groupby([*CELL, "metric"], sort=False):
        setting = Setting(str(key[0]), str(key[1]), str(key[2]), str(key[4]))
        on = (tested_on or {}).get(setting.dataset, 0) if setting.metric in ACCURACIES else 0
        read = {"test_accuracy": epochs[setting.dataset], "last": 1}.get(setting.metric, 0)
        images = _images(group["run"], read, kept) if kept and read else None
        numbers[setting, str(key[3])] = _number(group, images, on)
    return Evidence(numbers, labels, propositions)


def per_run(runs: pd.DataFrame, epochs: Mapping[str, int]) -> pd.DataFrame:
    """A row per run and metric with its value: the mean over the last epochs, as many as the dataset's entry says.

    A run that is missing, or an epoch without a number, makes an empty value.
    """
    runs = runs.assign(run=paths_of(runs))
    metrics = [column for column in runs.columns if column not in NOT_METRICS and runs[column].dtype != object]
    parts = [_means(part, metrics, epochs[str(dataset)]) for dataset, part in runs.groupby("dataset", sort=False)]
    read = readings(complete(runs))
    read = read.assign(run=paths_of(read)).melt(RUN, list(READINGS), "metric", "value")
    return pd.concat([*parts, read[read["value"].notna()]], ignore_index=True)


def _means(runs: pd.DataFrame, metrics: list[str], last: int) -> pd.DataFrame:
    tails = runs.sort_values("epoch", kind="stable").groupby(RUN, sort=False).tail(last)
    grouped = tails.groupby(RUN, sort=False)
    whole = grouped[metrics].count().eq(grouped.size(), axis=0)  # pandas would pass over an epoch without a number
    means = grouped[metrics].mean().where(whole)
    logged = means.dropna(axis=1, how="all").columns if len(means) > 1 else means.columns
    return means[[*dict.fromkeys([*logged, "test_accuracy"])]].reset_index().melt(RUN, var_name="metric")


def paths_of(runs: pd.DataFrame) -> list[str]:
    """dataset/noise/net/method/seed<k> of every row"""
    return ["/".join(map(str, cell)) + f"/seed{seed}" for *cell, seed in runs[[*CELL, "seed"]].itertuples(index=False)]


def _number(group: pd.DataFrame, images: np.ndarray | None, tested_on: int) -> Number:
    """One missing run makes the cell empty, one stand-in among real runs makes it a stand-in."""
    finished = group[group["value"].notna()]
    kinds = set(finished["data"]) or {""}
    return Number(
        mean=float(group["value"].mean(skipna=False)),
        data="stand-in" if "stand-in" in kinds else "".join(sorted(kinds)),
        source=_run_folders(list(finished["run"])),
        by_seed={int(seed): float(value) for seed, value in zip(finished["seed"], finished["value"], strict=True)},
        images=images,
        tested_on=tested_on,
    )


def _images(runs: Iterable[str], last: int, kept: Kept) -> np.ndarray | None:
    """The share of right answers to each image, over all runs of a cell."""
    shares = [kept.correct(run, last) for run in runs]
    there = [share for share in shares if share is not None]
    return np.mean(there, axis=0) if there and len(there) == len(shares) else None


def _with_seconds(runs: pd.DataFrame) -> pd.DataFrame:
    """A run's `seconds` are those of each epoch; the last ten lie after the warm-up, as the paper's."""
    known = "seconds" not in runs or "seconds_per_epoch" in runs
    return runs if known else runs.assign(seconds_per_epoch=runs["seconds"])


def with_times(
    evidence: Evidence, timed: Iterable[Mapping[str, Any]], stands_for: Mapping[str, Sequence[str]]
) -> Evidence:
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
    return Evidence(numbers, evidence.labels, evidence.propositions)


def of_paper(published: pd.DataFrame, labels: Labels) -> Evidence:
    """The paper's own tables, `results.read_published` with the claim's experiment first."""
    rows = published.drop_duplicates([*CELL, "metric"]).to_dict("records")
    numbers = {
        (_setting(row), str(row["method"])): Number(
            float(row["mean"]), source=f"paper: {row['experiment']}", printed=True
        )
        for row in rows
    }
    return Evidence(numbers, labels)


def _setting(row: Mapping[Any, Any]) -> Setting:
    return Setting(*(str(row[kind]) for kind in Setting._fields))


def _run_folders(runs: Sequence[str]) -> str:
    """The folders of one cell: …/seed0…2"""
    if not runs:
        return ""
    cell = runs[0].rpartition("/")[0]
    seeds = sorted(int(run.rpartition("/seed")[2]) for run in runs)
    row = seeds == list(range(seeds[0], seeds[-1] + 1)) and len(seeds) > 1
    return f"{cell}/seed" + (f"{seeds[0]}…{seeds[-1]}" if row else ",".join(map(str, seeds)))
