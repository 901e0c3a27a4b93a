"""One row of statistics.csv."""

import math
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from warlab.reporting.read.results import read_csv


class Statistic(NamedTuple):
    """The result of a test, or in `note` why there is none.

    setting  dataset, noise and network, where a test is about one setting
    cells    how many settings, seeds, images or methods the test counts
    """

    experiment: str = ""
    reading: str = ""
    test: str = ""
    setting: str = ""
    subject: str = ""
    against: str = ""
    cells: float = math.nan
    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p_value: float = math.nan
    data: str = ""
    note: str = ""


def read_statistics(path: Path) -> pd.DataFrame:
    texts = [name for name, kind in Statistic.__annotations__.items() if kind is str]
    return read_csv(path, Statistic._fields, text=texts)


def rows_of(table: pd.DataFrame) -> list[Statistic]:
    return [Statistic(*row) for row in table[[*Statistic._fields]].itertuples(index=False)]
