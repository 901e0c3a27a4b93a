"""The mean of every cell, with what intervals and tests need: the numbers of its seeds, the answers to each image."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from warlab.ids import RunId
from warlab.reporting.read.predictions import Predictions, correct_answers
from warlab.reporting.read.results import ACCURACY, READINGS, SETTING, Scenario, kind_of_data


@dataclass(frozen=True)
class Number:
    """The mean of a cell and what is known about its uncertainty.

    by_seed    the number of each run
    images     the share of correct answers to each test image (N,) by seed, over epochs; empty if it is not known
    tested_on  the number of test samples, if the mean is a share of them
    error      the standard error of a number that was measured otherwise, such as a time; `basis` says how
    printed    whether it is a number of the paper's tables
    """

    mean: float
    data: str = "real"
    source: str = ""  # run folders, or the table of the paper
    by_seed: Mapping[int, float] = field(default_factory=dict)
    images: Mapping[int, np.ndarray] = field(default_factory=dict)
    tested_on: int = 0
    error: float = math.nan
    basis: str = ""
    printed: bool = False

    @property
    def correct(self) -> np.ndarray:
        """Return the share of correct answers to each image, over the seeds; empty if it is not known."""
        return np.mean([*self.images.values()], axis=0) if self.images else np.empty(0)

    @property
    def binomial_error(self) -> float:
        share = min(max(self.mean / 100, 0.0), 1.0)
        return 100 * math.sqrt(share * (1 - share) / self.tested_on)


def restrict_to_shared_seeds(numbers: Sequence[Number]) -> tuple[list[Number], list[int]]:
    """Return each number over the seeds that all of them have, and these seeds; unchanged if they share no seed."""
    seeds = sorted(set.intersection(*(set(number.by_seed) for number in numbers)))
    restricted = []
    for number in numbers:
        if seeds and set(seeds) != set(number.by_seed):
            values = {seed: number.by_seed[seed] for seed in seeds}
            images = {seed: array for seed, array in number.images.items() if seed in values}
            number = replace(number, mean=float(np.mean([*values.values()])), by_seed=values, images=images)
        restricted.append(number)
    return restricted, seeds


def collect_numbers(
    runs: pd.DataFrame, column: str, predictions: Predictions, tested_on: Mapping[str, int]
) -> dict[Scenario, dict[str, Number]]:
    """Return the number of every cell and metric, by setting and method.

    runs       a row per run, with the columns CELL, metric, seed, data, `run`, its id, and `epochs`: over how many of
               the last epochs the value is a mean, if it can be computed from predictions, else 0
    column     where the value of a run is; a run without a value makes the mean of its cell empty
    tested_on  the number of test samples of a dataset
    """
    numbers: dict[Scenario, dict[str, Number]] = {}
    for (*key, method), cell in runs.groupby([*SETTING, "metric", "method"], sort=False):
        setting, done = Scenario(*map(str, key)), cell[cell[column].notna()]
        images = {
            int(seed): correct[-epochs:].mean((0, 1))  # over the epochs and the networks
            for seed, run, epochs in cell[["seed", "run", "epochs"]].itertuples(index=False)
            if epochs and (correct := correct_answers(predictions, run)) is not None
        }
        numbers.setdefault(setting, {})[str(method)] = Number(
            mean=float(cell[column].mean(skipna=False)),
            data=kind_of_data(done["data"]),
            source=_folders([RunId.parse(run) for run in done["run"]]),
            by_seed=dict(zip(done["seed"].astype(int), done[column].astype(float), strict=True)),
            images=images if len(images) == len(cell) else {},
            tested_on=tested_on.get(setting.dataset, 0) if setting.metric in (ACCURACY, *READINGS) else 0,
        )
    return numbers


def _folders(runs: Sequence[RunId]) -> str:
    """Return the folders of one cell: …/seed0…2"""
    if not runs:
        return ""
    seeds = sorted(run.seed for run in runs)
    successive = seeds == list(range(seeds[0], seeds[-1] + 1)) and len(seeds) > 1
    return f"{'/'.join(runs[0].cell)}/seed" + (f"{seeds[0]}…{seeds[-1]}" if successive else ",".join(map(str, seeds)))
