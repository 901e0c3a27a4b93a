"""The labels as they came with the data, where those are noisy by themselves (Clothing1M)."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from warlab.errors import WarlabError
from warlab.noise.base import Made, Wanted


def make(wanted: Wanted, data: Mapping[str, np.ndarray], files: Mapping[str, Path]) -> Made:
    """`own_noise` of the settings is the rate that the owners give; which labels are wrong nobody knows."""
    rate = wanted.settings.get("own_noise")
    if rate is None:
        raise WarlabError(f"{wanted.dataset} has no noise of its own; choose another noise than {wanted.noise}.")
    labels = data["train_y"]
    known = {"rate": rate, "realised_rate": rate, "estimated": "the rates are the owners' estimate"}
    return {"labels": labels}, wanted.given(labels, labels) | known
