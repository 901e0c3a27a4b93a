"""A setting is what the methods of one row of a table share: dataset, noise, network and metric."""

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from warlab.reporting.tables.labels import Labels, name

ACCURACY = "test_accuracy"
RANK = "average_rank"  # the metric of the rows of ranks below a table
SETTING = ["dataset", "noise", "net"]


class Setting(NamedTuple):
    dataset: str
    noise: str
    net: str
    metric: str = ACCURACY

    @classmethod
    def parse(cls, text: str) -> "Setting":
        """Of dataset, noise and network, separated by blanks as in statistics.csv."""
        return cls(*text.split(" "))

    def __str__(self) -> str:
        return " ".join(self[:3])

    @property
    def is_rank(self) -> bool:
        return self.metric == RANK

    def called(self, labels: Labels, kinds: Sequence[str] = SETTING) -> str:
        """The printed names, such as "CIFAR-10, asymmetric 40 %, cnn9"."""
        return ", ".join(name(labels, kind, getattr(self, kind)) for kind in kinds)


def by_setting(table: pd.DataFrame) -> list[tuple[Setting, pd.DataFrame]]:
    """The rows of each setting, in the order of the table."""
    return [(Setting(*map(str, key)), part) for key, part in table.groupby(SETTING, sort=False)]


def kind_of_data(kinds: pd.Series) -> str:
    """One stand-in among real data makes the whole a stand-in; empty where nothing was run."""
    present = set(kinds.dropna()) - {""}
    return "stand-in" if "stand-in" in present else "".join(sorted(present))
