"""The numbers that claims are judged by: ours, or the paper's own, asked for in the same way."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from warlab.reporting.labels import Labels, name
from warlab.reporting.results import CELL, summarise, under_other_names
from warlab.reporting.stats import readings

Propositions = Mapping[str, Mapping[str, Any]]
NOT_METRICS = {*CELL, "seed", "data", "epoch"}


class Setting(NamedTuple):
    dataset: str
    noise: str
    net: str
    metric: str


class Number(NamedTuple):
    """A cell's mean with its spread (between runs, else over epochs; 0 where unknown) and what it rests on."""

    mean: float
    spread: float
    seeds: int
    data: str
    source: str  # run folders, or the table of the paper


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
    runs: pd.DataFrame, aliases: Iterable[Sequence[str]], labels: Labels, propositions: Propositions
) -> Evidence:
    """Every metric that the runs log, as the tables summarise it, and the other readings of the test accuracy."""
    runs = _with_seconds(runs)
    metrics = [column for column in runs.columns if column not in NOT_METRICS and runs[column].dtype != object]
    summary = under_other_names(pd.concat([summarise(runs, metrics=metrics), _readings(runs)]), list(aliases))
    return Evidence(
        {(_setting(row), row["method"]): _number(row, _run_folders(row)) for row in summary.to_dict("records")},
        labels,
        propositions,
    )


def _with_seconds(runs: pd.DataFrame) -> pd.DataFrame:
    """A run's `seconds` are those of each epoch; the last ten lie after the warm-up, as the paper's."""
    known = "seconds" not in runs or "seconds_per_epoch" in runs
    return runs if known else runs.assign(seconds_per_epoch=runs["seconds"])


def _readings(runs: pd.DataFrame) -> pd.DataFrame:
    """The last epoch and the best one, in the shape of a summary."""
    per_run = readings(runs)
    long = per_run.melt([*CELL, "seed", "data"], ["last", "best_on_test_diagnostic"], "metric", "mean")
    grouped = long.groupby([*CELL, "metric"], sort=False)
    summary = grouped.agg(mean=("mean", "mean"), std_runs=("mean", "std"), seeds=("seed", "nunique"))
    data = grouped["data"].agg(lambda kinds: "stand-in" if "stand-in" in set(kinds) else "real")
    missing = runs[runs["epoch"].isna()][list(CELL)].drop_duplicates().assign(missing=True)
    whole = summary.assign(data=data, std_epochs=0.0).reset_index().merge(missing, on=list(CELL), how="left")
    return whole[whole["missing"].isna()].drop(columns="missing")


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
            found = Number(float(times["epoch"]), 0.0, 1, "real", f"timing/{setting.dataset}/{setting.net}.json")
            numbers |= {(setting, same): found for same in (method, *stands_for.get(method, ()))}
    return Evidence(numbers, evidence.labels, evidence.propositions)


def of_paper(published: pd.DataFrame, labels: Labels) -> Evidence:
    """The paper's own tables, `results.read_published` with the claim's experiment first."""
    rows = published.drop_duplicates([*CELL, "metric"]).to_dict("records")
    numbers = {
        (_setting(row), str(row["method"])): Number(
            float(row["mean"]), _or_zero(row["std"]), int(_or_zero(row["runs"])), "real", f"paper: {row['experiment']}"
        )
        for row in rows
    }
    return Evidence(numbers, labels)


def _setting(row: Mapping[Any, Any]) -> Setting:
    return Setting(*(str(row[kind]) for kind in Setting._fields))


def _number(row: Mapping[Any, Any], source: str) -> Number:
    spread = row["std_runs"] if not math.isnan(_or_zero(row["std_runs"], math.nan)) else row["std_epochs"]
    return Number(float(row["mean"]), _or_zero(spread), int(row["seeds"]), str(row["data"]), source)


def _run_folders(row: Mapping[Any, Any]) -> str:
    seeds = int(row["seeds"])
    which = "seed0" if seeds == 1 else f"seed0…{seeds - 1}"
    return f"{row['dataset']}/{row['noise']}/{row['net']}/{row['method']}/{which}"


def _or_zero(value: Any, otherwise: float = 0.0) -> float:
    return otherwise if pd.isna(value) else float(value)
