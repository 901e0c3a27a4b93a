"""A ground cost as a file: CSV that a person can open, with the class names as header and first column."""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from warlab.errors import WarlabError


def write_cost(cost: np.ndarray, class_names: Sequence[str]) -> str:
    """The text of the file; its numbers read back to the same bits."""
    import pandas as pd  # slow to import, and the Snakefile reads this module

    return pd.DataFrame(cost, index=list(class_names), columns=list(class_names)).to_csv(index_label="class")


def read_cost(path: Path, class_names: Sequence[str]) -> np.ndarray:
    """By the csv module: pandas would take a class called NA for a gap, and 01 for the number 1."""
    try:
        with Path(path).open(newline="") as file:
            head, *rows = csv.reader(file)
        cost = np.array([[float(entry or "nan") for entry in row[1:]] for row in rows], np.float64)
    except (OSError, ValueError, csv.Error) as error:
        raise WarlabError(f"The cost {path} cannot be read as a CSV of numbers ({error}); check the file.") from error
    names = list(class_names)
    if head[1:] != names or [row[0] for row in rows if row] != names:
        raise WarlabError(
            f"The cost {path} names other classes than the data ({', '.join(names)}): give one row and one column "
            "per class, in this order."
        )
    if not np.isfinite(cost).all():
        raise WarlabError(f"The cost {path} has entries that are not finite numbers; give a number for every pair.")
    return cost
