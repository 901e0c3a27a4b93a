"""A ground cost as a file: CSV that a person can open, with the class names as header and first column."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from warlab.errors import WarlabError


def write_cost(cost: np.ndarray, class_names: Sequence[str]) -> str:
    """The text of the file; its numbers read back to the same bits."""
    import pandas as pd  # slow to import, and the Snakefile reads this module

    return pd.DataFrame(cost, index=list(class_names), columns=list(class_names)).to_csv(index_label="class")


def read_cost(path: Path, class_names: Sequence[str]) -> np.ndarray:
    import pandas as pd

    try:
        table = pd.read_csv(path, index_col=0)
        cost = table.to_numpy(dtype=np.float64)
    except (OSError, ValueError) as error:
        raise WarlabError(f"The cost {path} cannot be read as a CSV of numbers ({error}); check the file.") from error
    names = list(class_names)
    if [str(c) for c in table.columns] != names or [str(i) for i in table.index] != names:
        raise WarlabError(
            f"The cost {path} names other classes than the data ({', '.join(names)}): give one row and one column "
            "per class, in this order."
        )
    if not np.isfinite(cost).all():
        raise WarlabError(f"The cost {path} has entries that are not finite numbers; give a number for every pair.")
    return cost
