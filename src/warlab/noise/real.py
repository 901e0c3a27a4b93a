"""The labels as they came with the data, where those are noisy by themselves (Clothing1M)."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from warlab import data as datasets
from warlab.errors import WarlabError
from warlab.noise.base import Made, Wanted


def make(wanted: Wanted, data: Mapping[str, np.ndarray], files: Mapping[str, Path]) -> Made:
    """The rate is what the owners say of their labels; which of them are wrong nobody knows."""
    rate = datasets.get(wanted.dataset).own_noise
    if rate is None:
        raise WarlabError(f"{wanted.dataset} has no noise of its own; choose another noise than {wanted.noise}.")
    labels = data["train_y"]
    known = {"rate": rate, "realised_rate": rate, "estimated": "the rates are the owners' estimate"}
    return {"labels": labels}, wanted.given(labels, labels) | known
