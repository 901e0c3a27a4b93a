"""Datasets that also return the index of each sample, which a DataLoader does not do."""

from collections.abc import Mapping
from operator import index
from typing import Any

from torch.utils.data import Dataset

from warlab.errors import WarlabError

INDEX = "index"


def with_index(dataset: Any) -> "Indexed":
    """Return a dataset whose samples end with their index: (x, y, index), or {..., "index": index} for mappings.

    >>> with_index([("first image", 3), ("second image", 7)])[1]
    ('second image', 7, 1)
    """
    if not hasattr(dataset, "__getitem__") or not hasattr(dataset, "__len__"):
        raise WarlabError(
            f"{type(dataset).__name__} has no fixed order of samples, so that they have no index; an audit needs a "
            "dataset with __getitem__ and __len__."
        )
    return Indexed(dataset)


class Indexed(Dataset[Any]):
    """`dataset` is the one that is wrapped."""

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, number: Any) -> Any:
        number = range(len(self))[index(number)]  # the same index for -1 and the last
        sample = self.dataset[number]
        if isinstance(sample, Mapping):
            if INDEX in sample:
                raise WarlabError(f"The samples have a column {INDEX!r} already; rename it before with_index.")
            return {**sample, INDEX: number}
        return (*sample, number) if isinstance(sample, tuple | list) else (sample, number)
