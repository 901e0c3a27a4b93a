"""Runs as one tidy table, the settings in it, and the numbers that a table of the paper prints."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from warlab.common.files import read_json
from warlab.common.readings import HELD_OUT, LAST
from warlab.errors import WarlabError
from warlab.ids import RunId
from warlab.reporting.names import Labels, display_name
from warlab.reporting.read.csv_rows import fill_text, read_csv, require_columns

ACCURACY = "test_accuracy"
RANK = "average_rank"  # the metric of the rows of ranks below a table
TOLERANCE = 2.0  # points between a run and its repetition: another processor rounds differently, training magnifies it
SETTING = ["dataset", "noise", "net"]
CELL = (*SETTING, "method")
RUN = (*CELL, "seed", "data")
EPOCH = ("epoch", ACCURACY)
READINGS = ("last10_mean", "last", "best_by_noisy_validation", "best_on_test_diagnostic")  # of a run
BEST = "best_on_validation"  # not a column: the test accuracy of an epoch that another column chooses
OWN_VALIDATION = "val_accuracy"  # of a validation set with clean labels that comes with the data
PUBLISHED = ("experiment", *CELL, "metric", "mean", "std", "runs", "note")
SUMMARY = (*CELL, "metric", "mean", "std_epochs", "std_runs", "seeds", "data")


def is_score(metric: str) -> bool:
    """Return whether more of it is better, which is not so for losses, R, and memorised labels."""
    return metric.endswith("accuracy") or metric.startswith(("recall_", "f1_")) or metric in (BEST, "purity")


class Scenario(NamedTuple):
    """What the methods of one row of a table share: a setting, as documents call it, and what is measured in it."""

    dataset: str
    noise: str
    net: str
    metric: str = ACCURACY

    @classmethod
    def parse(cls, text: str) -> "Scenario":
        """Parse dataset, noise and network, separated by blanks as in statistics.csv."""
        return cls(*text.split(" "))

    def __str__(self) -> str:
        return " ".join(self[:3])

    @property
    def is_rank(self) -> bool:
        return self.metric == RANK

    def display_name(self, labels: Labels, kinds: Sequence[str] = SETTING) -> str:
        """Return the printed names, such as "CIFAR-10, asymmetric 40 %, cnn9"."""
        return ", ".join(display_name(labels, kind, getattr(self, kind)) for kind in kinds)


def group_by_setting(table: pd.DataFrame) -> list[tuple[Scenario, pd.DataFrame]]:
    return [(Scenario(*map(str, key)), part) for key, part in table.groupby(SETTING, sort=False)]


def kind_of_data(kinds: pd.Series) -> str:
    """Return "stand-in" if any of the data are stand-ins, else "real"; empty if nothing was run."""
    present = set(kinds.dropna()) - {""}
    return "stand-in" if "stand-in" in present else "".join(sorted(present))


def collect(run_dirs: Iterable[Path]) -> pd.DataFrame:
    """Return the declared runs, one row per run and epoch: dataset,noise,net,method,seed,data, then the metrics.

    A run folder is …/<dataset>/<noise>/<net>/<method>/seed<k> with metrics.csv and result.json. A missing run is an
    error that names it. A metric that only one method logs is empty for the others.
    """
    frames = [_run(Path(folder)) for folder in run_dirs]
    if not frames:
        raise WarlabError("There are no runs to collect; name at least one experiment in the configuration.")
    runs = pd.concat(frames, ignore_index=True)
    metrics = [name for name in runs.columns if name not in RUN]
    return runs[[*RUN, *metrics]].astype({"seed": "int64", "epoch": "Int64"})


def read_runs(path: Path) -> pd.DataFrame:
    """Read runs.csv as `collect` made it, with all of its columns."""
    return read_csv(path, (*RUN, *EPOCH), text=(*CELL, "data")).astype({"epoch": "Int64"})


def run_ids(runs: pd.DataFrame) -> list[str]:
    """Return the id of the run of every row: dataset/noise/net/method/seed<k>."""
    return [str(RunId(*row)) for row in runs[[*CELL, "seed"]].itertuples(index=False)]


def select(runs: pd.DataFrame, declared: Sequence[Sequence[str | int]]) -> pd.DataFrame:
    """Choose the declared runs from given ones as `select_declared` does; refuse if there is none."""
    chosen = select_declared(runs, declared)
    if chosen["epoch"].isna().all():
        raise WarlabError("None of the given runs belongs to this scale; name the scale that they were made with.")
    return chosen


def select_declared(runs: pd.DataFrame, declared: Sequence[Sequence[str | int]]) -> pd.DataFrame:
    """Return the declared runs of one table. A missing run is a row without an epoch, from which `summarise` makes an
    empty cell instead of a mean over the other seeds."""
    keys = [*CELL, "seed"]
    wanted = pd.DataFrame(declared, columns=keys).astype({"seed": "int64"})
    return fill_text(wanted.merge(runs, on=keys, how="left"), ["data"])[list(runs.columns)]


def read_published(path: Path, experiment: str | None = None) -> pd.DataFrame:
    """Read the paper's numbers; those of `experiment` first.

    The others follow because our table may show a method (CCE next to the WAR variants) that the paper prints in
    another table. If a cell has several rows, the first one counts.
    """
    published = read_csv(path, PUBLISHED, text=("experiment", *CELL, "metric", "note"))
    if experiment is None:
        return published
    elsewhere = published["experiment"] != experiment
    return published.loc[np.argsort(elsewhere, kind="stable")].reset_index(drop=True)


def published_noise(noise: str) -> str:
    """Return the noise of the paper's number: one for both readings of its asymmetric noise, its own and its code's."""
    return noise.replace("asym_code-", "asym-")


def finished_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of finished runs, without those that stand for a missing run."""
    return runs[runs["epoch"].notna()]


def complete_cells(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs of the cells in which no run is missing."""
    is_finished = runs.assign(finished=runs["epoch"].notna()).groupby(list(CELL))["finished"]
    return runs[is_finished.transform("all").to_numpy(bool)]


def summarise(runs: pd.DataFrame, last: int = LAST, metrics: Sequence[str] = (ACCURACY,)) -> pd.DataFrame:
    """Return one row per cell (dataset, noise, net, method) and metric, over the last min(`last`, epochs) epochs.

    mean        mean over the seeds of each run's mean
    std_epochs  mean over the seeds of each run's standard deviation over its epochs (ddof 0, numpy's default,
                as in the authors' code; the paper's ± is most likely this one)
    std_runs    standard deviation between the runs' means (ddof 1; empty with one run)
    A cell with a missing run has empty numbers; `seeds` counts the finished runs. The metric best_on_validation is
    the test accuracy of the epoch with the best val_accuracy, for runs that have one.
    """
    measured = [metric for metric in metrics if metric != BEST] if runs["epoch"].notna().any() else []
    require_columns(runs.columns, (*RUN, *EPOCH, *measured), "the table of runs")
    cell = list(CELL)
    by_cell = runs.groupby(cell, sort=False)
    about = pd.DataFrame(
        {"seeds": finished_runs(runs).groupby(cell)["seed"].nunique(), "data": by_cell["data"].agg(kind_of_data)}
    )
    declared = runs[cell].drop_duplicates().merge(pd.DataFrame({"metric": list(metrics)}), how="cross")
    runs = runs.assign(**{metric: np.nan for metric in metrics if metric not in runs})
    best = read_at_best(runs, OWN_VALIDATION).reindex(pd.MultiIndex.from_frame(runs[[*cell, "seed"]]))
    runs = runs.assign(**{BEST: best.to_numpy()})
    by_metric = last_epochs(runs, metrics, last).groupby([*cell, "metric"])
    numbers = by_metric.agg(mean=("mean", "mean"), std_epochs=("std", "mean"), std_runs=("mean", "std"))
    numbers = numbers[by_metric["mean"].count() == by_metric.size()]  # every run must have a number
    summary = declared.join(numbers, on=[*cell, "metric"]).join(about, on=cell)
    return summary.assign(seeds=summary["seeds"].fillna(0).astype(int))[list(SUMMARY)]


def last_epochs(runs: pd.DataFrame, metrics: Sequence[str], last: int = LAST) -> pd.DataFrame:
    """Return mean and standard deviation over the last epochs, by run and metric; empty if an epoch has no number. One
    epoch has no standard deviation."""
    run = [*CELL, "seed"]
    tails = runs.sort_values("epoch", kind="stable").groupby(run, sort=False).tail(last)
    long = tails.melt(run, list(metrics), "metric", "value").astype({"value": float})
    by_run = long.groupby([*run, "metric"])["value"]
    complete = by_run.count() == by_run.size()  # pandas would skip an epoch without a number
    spread = complete & (by_run.size() > 1) & (by_run.size().index.get_level_values("metric") != BEST)
    return pd.DataFrame({"mean": by_run.mean().where(complete), "std": by_run.std(ddof=0).where(spread)})


def read_at_best(runs: pd.DataFrame, column: str, metric: str = ACCURACY) -> pd.Series:
    """Return the metric of each run in the first epoch in which `column` is highest."""
    logged = runs[runs[column].notna()] if column in runs else runs.head(0).assign(**{column: np.nan})
    order = logged.sort_values([column, "epoch"], ascending=[False, True], kind="stable")
    return order.drop_duplicates([*CELL, "seed"]).set_index([*CELL, "seed"])[metric]


def readings(runs: pd.DataFrame, last: int = LAST, metric: str = ACCURACY) -> pd.DataFrame:
    """Return a row per finished run that has the metric: CELL, seed, data, metric and its READINGS in percent.

    best_by_noisy_validation is that of the epoch with the highest accuracy on the noisy validation split (the first of
    several), empty if a run has no such split. best_on_test_diagnostic chooses by the test labels and must not be
    reported as a result.
    """
    done, run = finished_runs(runs), [*CELL, "seed"]
    done = done[done[metric].notna()] if metric in done else done.head(0).assign(**{metric: np.nan})
    by_run = done.sort_values("epoch", kind="stable").groupby(run, sort=False)
    read = pd.DataFrame(
        {
            "data": by_run["data"].first(),
            "last10_mean": last_epochs(done, [metric], last)["mean"].droplevel("metric"),
            "last": by_run[metric].last(),
            "best_by_noisy_validation": read_at_best(done, HELD_OUT, metric).astype(float),
            "best_on_test_diagnostic": by_run[metric].max(),
        },
        index=by_run.size().index,
    )
    return read.reset_index().assign(metric=metric)[[*RUN, "metric", *READINGS]]


def all_readings(runs: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    wanted = dict.fromkeys([ACCURACY, *metrics])
    return pd.concat([readings(runs, metric=metric) for metric in wanted], ignore_index=True)


def add_complete_flag(per_run: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Add a column `complete`: whether all runs of the cell in `runs` are finished."""
    cells, complete = (pd.MultiIndex.from_frame(table[list(CELL)]) for table in (per_run, complete_cells(runs)))
    return per_run.assign(complete=cells.isin(complete))


def epochs_averaged(runs: pd.DataFrame, last: int = LAST) -> dict[tuple[str, ...], int]:
    """Return how many epochs `summarise` averages in each cell: `last`, or fewer if a run is shorter."""
    lengths = finished_runs(runs).groupby([*CELL, "seed"], sort=False).size()
    shortest = lengths.groupby(list(CELL), sort=False).min().clip(upper=last)
    return {tuple(map(str, cell)): int(epochs) for cell, epochs in zip(shortest.index, shortest, strict=True)}


def compare_retrained(runs: pd.DataFrame, metrics: Path, run: str) -> dict[str, str | float]:
    """Compare a reported run with its repetition: both accuracies over the last ten epochs, the largest difference in
    any epoch, and a sentence about them. A difference above TOLERANCE between the accuracies is an error."""
    done = finished_runs(runs)
    chosen = done[np.array(run_ids(done)) == run].sort_values("epoch")
    if chosen.empty:
        raise WarlabError(f"The run {run} is not among the reported ones; give another one with --config verify=1.")
    reported, again = (table[ACCURACY].to_numpy(float) for table in (chosen, read_csv(metrics, EPOCH)))
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
    return {"run": run, "reported": before, "again": after, "largest": largest, "sentence": sentence}


def _run(folder: Path) -> pd.DataFrame:
    try:
        run = RunId.parse(str(folder))
    except ValueError:
        raise WarlabError(
            f"{folder} is not a run folder; it must end in dataset/noise/net/method/seed<number>."
        ) from None
    absent = [name for name in ("metrics.csv", "result.json") if not (folder / name).is_file()]
    if absent:
        raise WarlabError(f"The run {folder} has no {absent[0]}; run its training first.")
    metrics = read_csv(folder / "metrics.csv", EPOCH)
    if metrics.empty:
        raise WarlabError(f"{folder / 'metrics.csv'} holds no epoch; delete the run's folder and train it again.")
    result = read_json(folder / "result.json")
    data = result.get("data")
    if data not in ("real", "stand-in"):
        raise WarlabError(f"{folder / 'result.json'} does not say real or stand-in data; train this run again.")
    provenance = result.get("provenance", {})
    if not str(provenance.get("processor", "CPU")).startswith("CPU"):  # the processor only waits for the GPU
        metrics = metrics.drop(columns="processor_seconds", errors="ignore")
    memory = provenance.get("peak_memory_mb", np.nan)
    return metrics.assign(**vars(run), data=data, peak_memory_mb=memory)
