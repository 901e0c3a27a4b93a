"""Learning curves: the mean over the seeds of a method after each epoch, and the range of the seeds."""

from dataclasses import dataclass

import pandas as pd

from warlab.reporting.read.results import ACCURACY


@dataclass(frozen=True)
class Curve:
    """One method in one setting: mean, lowest and highest value of its seeds after each epoch that has a value."""

    method: str
    seeds: int
    epochs: list[int]
    mean: list[float]
    low: list[float]
    high: list[float]


def learning_curves(runs: pd.DataFrame, column: str = ACCURACY) -> list[Curve]:
    """Return a curve for each method of one setting that has values, in the order of `runs`.

    An epoch without a value, in which a run was not tested, is left out. Values are rounded to four digits, to be short
    in a page.
    """
    curves = []
    for method, rows in runs.groupby("method", sort=False):
        seeds = rows.pivot_table(index="epoch", columns="seed", values=column).dropna(how="all")
        if seeds.empty:
            continue
        mean, low, high = (
            values.round(4).tolist() for values in (seeds.mean(axis=1), seeds.min(axis=1), seeds.max(axis=1))
        )
        curves.append(Curve(str(method), seeds.shape[1], [int(epoch) for epoch in seeds.index], mean, low, high))
    return curves
