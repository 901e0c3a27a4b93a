"""Average ranks: in each setting the highest number has rank 1, and equal numbers share their mean rank.

A group of settings in which a cell is missing has no ranks: an average over the cells that happen to be there would
compare different settings.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from warlab.reporting.read.results import RANK, SETTING, kind_of_data

DIGITS = 1  # as the paper prints its ranks


def ranks(table: pd.DataFrame) -> pd.Series:
    """The average rank of each method over all settings of a tidy table, by its numbers as printed.

    Two equal numbers get their mean rank; the paper gives the better rank to the first of them.
    """
    printed = table.assign(mean=table["mean"].astype(float).round(2))
    methods = list(dict.fromkeys(table["method"]))
    # no pivot_table(dropna=False): it would add the settings that a full product of the others had
    numbers = printed.set_index([*SETTING, "metric", "method"])["mean"].unstack("method").reindex(columns=methods)
    complete = len(numbers) > 0 and not numbers.isna().any(axis=None)
    return average_ranks(numbers).round(DIGITS) if complete else pd.Series(np.nan, index=methods)


def average_ranks(numbers: pd.DataFrame) -> pd.Series:
    """Of each method (column), over the settings (rows)."""
    return numbers.rank(axis=1, ascending=False).mean()


def rank_rows(table: pd.DataFrame, groups: Iterable[str]) -> pd.DataFrame:
    """Tidy rows of the dataset "all" whose noise is the group: all settings, or the noisy ones.

    A group that has the settings of another, because the table has no clean one, is not shown twice.
    """
    noisy = table[table["noise"] != "clean"]
    parts = {"all": table if len(noisy) < len(table) else table.head(0), "noisy": noisy}
    frames = [_rows(parts[group], group) for group in groups if len(parts[group])]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _rows(part: pd.DataFrame, group: str) -> pd.DataFrame:
    nets = set(part["net"])
    average = ranks(part)
    rows = pd.DataFrame({"method": average.index, "mean": average.to_numpy(float)})
    run = rows["mean"].notna().all()
    return rows.assign(
        dataset="all",
        noise=group,
        net=nets.pop() if len(nets) == 1 else "all",
        metric=RANK,
        seeds=part["seeds"].min() if run else None,
        data=kind_of_data(part["data"]) if run else "",
    )
