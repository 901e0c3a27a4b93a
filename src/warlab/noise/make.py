"""The noise of one (data set, noise, seed), made by the module of its sort."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import numpy as np

from warlab.noise import module
from warlab.noise.base import Made, Wanted


def make_noise(wanted: Wanted, data: Mapping[str, np.ndarray], files: Mapping[str, Path]) -> Made:
    """`data` has train_x and train_y; `files` are those that `warlab.noise.needs` asks for."""
    made: Made = import_module(module(wanted.noise)).make(wanted, data, files)
    return made
