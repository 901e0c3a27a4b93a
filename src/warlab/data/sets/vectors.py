"""The user's own numbers: an npz file with train_x, train_y and optionally test_x and test_y, of floats of any shape.

Rows of a table, embeddings or other features; for images of bytes see `arrays`. Values are used as they are.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from warlab.data import in_place, user_data
from warlab.data.base import AS_THEY_ARE, Pixels
from warlab.data.synthetic.patterns import shuffled_labels
from warlab.errors import WarlabError

STAND_IN_SIZE = 12


@dataclass(frozen=True, kw_only=True)
class UserVectors(user_data.UserSamples):
    """Training standardises nothing: the mean is 0 and the deviation 1 in the description of the data."""

    samples: ClassVar[str] = "vectors"
    resizes: ClassVar[bool] = False

    def normalisation(self, x: np.ndarray) -> Pixels:
        return AS_THEY_ARE


def read(root: Path, size: int | None) -> user_data.UserData:
    return user_data.read_npz(in_place.place(root), _numbers)


def _numbers(values: np.ndarray) -> np.ndarray:
    """Return float32 (N, …), finite."""
    if values.dtype.kind not in "fiu" or values.ndim < 2 or 0 in values.shape:
        raise WarlabError(
            f"Vectors must be numbers of shape (N, features, …), not {values.dtype} of {values.shape}; convert them."
        )
    with np.errstate(over="ignore"):  # what is too large for float32 is not finite below
        values = values.astype(np.float32)
    bad = np.flatnonzero(~np.isfinite(values.reshape(len(values), -1)).all(axis=1))
    if len(bad):
        raise WarlabError(f"Row {bad[0]} of the vectors has a value that is not a finite number; replace or remove it.")
    return values


def stand_in(root: Path, seed: int, n: int = 240) -> None:
    """Draw three clusters of vectors and name them."""
    rng = np.random.default_rng(seed)
    labels = shuffled_labels(n, 3, rng)
    centres = 2 * rng.standard_normal((3, STAND_IN_SIZE))
    values = (centres[labels] + rng.standard_normal((n, STAND_IN_SIZE))).astype(np.float32)
    user_data.write_stand_in(root, values, labels)


DATASET = UserVectors(name="vectors", title="Own vectors", read=read, stand_in=stand_in)
