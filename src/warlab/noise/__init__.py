"""Label noise by its id: `asym-40` is the kind `asym` at a rate of 40 percent, `clean` is no noise.

Every kind is a file of `kinds/` with a `KIND`; see `kinds/base.py` for what it must have.
"""

from functools import cache

import numpy as np

from warlab.artefacts.labelled_data import NoisyLabels
from warlab.errors import WarlabError
from warlab.ids import NoiseId
from warlab.noise.kinds.base import DataArrays, Files, NoiseKind, NoiseRequest
from warlab.noise.kinds.matrix import MatrixNoise
from warlab.registry import Registry

KINDS = Registry("warlab.noise.kinds", "kind of noise")
REAL = "real"  # the labels that come with the data


@cache
def _kinds() -> dict[str, NoiseKind]:
    """file → kind"""
    return {name: KINDS.load(name).KIND for name in KINDS.names()}


def kind_names() -> list[str]:
    """Return the names that ids begin with."""
    return [name for kind in _kinds().values() for name in kind.names]


@cache
def _file_of(noise_id: str) -> str:
    noise = NoiseId.parse(noise_id)
    for file, kind in _kinds().items():
        if kind.has(noise):
            return file
    rated, others = (
        sorted(name for kind in _kinds().values() if kind.rated == rates for name in kind.names)
        for rates in (True, False)
    )
    raise WarlabError(
        f"There is no noise {noise_id!r}; write one of {', '.join(others)}, file_<name>, or one of {', '.join(rated)} "
        "with a hyphen and percent from 0 to below 100, such as asym-40."
    )


def kind_of(noise_id: str) -> NoiseKind:
    return _kinds()[_file_of(noise_id)]


def module(noise_id: str) -> str:
    return KINDS.module(_file_of(noise_id))


def parse(noise_id: str) -> tuple[str, float]:
    """Return the kind and the nominal rate (0 ≤ rate < 1) of a noise id; 0 for a file, which is not read here."""
    kind, noise = kind_of(noise_id), NoiseId.parse(noise_id)
    return kind.name(noise), kind.rate(noise)


def needs(noise_id: str) -> dict[str, str]:
    """Return what a noise reads besides the data: `human` labels, `images` of a dataset or a `given` file."""
    return kind_of(noise_id).needs(NoiseId.parse(noise_id))


def check(noise_id: str, dataset: str) -> None:
    """Raise a WarlabError if a dataset cannot have this noise."""
    kind_of(noise_id).check(NoiseId.parse(noise_id), dataset)


def settings_of_dataset(noise_id: str, dataset: str) -> dict[str, object]:
    """Return settings that the dataset adds to those of the noise, such as the rate of its own labels."""
    return kind_of(noise_id).settings_of_dataset(dataset)


def label(noise_id: str) -> str:
    """Return the name of a noise in tables and figures: "40 % asymmetric"."""
    return kind_of(noise_id).label(NoiseId.parse(noise_id))


def make_noise(request: NoiseRequest, data: DataArrays, files: Files) -> NoisyLabels:
    """Make the noise of one dataset and seed from the arrays of the data and the files that `needs` asks for."""
    return kind_of(request.noise).make(request, data, files)


def transition_matrix(kind: str, rate: float, dataset: str, n_classes: int) -> np.ndarray:
    """Return the (C, C) row-stochastic matrix of a kind that has one: row = clean label, column = noisy label."""
    with_matrix = [one for one in _kinds().values() if isinstance(one, MatrixNoise)]
    matrices = {name: matrix for one in with_matrix for name, matrix in one.matrices.items()}
    if kind not in matrices:
        raise WarlabError(f"There is no kind of noise {kind!r} with a matrix; choose one of: {', '.join(matrices)}.")
    if not 0 <= rate < 1:
        raise WarlabError(f"The noise rate {rate} is outside [0, 1); 0.4 means 40 percent.")
    if n_classes < 2:
        raise WarlabError(f"Label noise needs at least two classes, not {n_classes}.")
    return matrices[kind](rate, dataset, n_classes)
