"""Transition matrices of class-dependent label noise: row i holds the probabilities that label i becomes j.

Sources: the paper, its authors' code, and the generators of Patrini et al. (2017) and Han et al. (2018).
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from warlab.data.sets._cifar100_names import NAMES as CIFAR100_NAMES
from warlab.data.sets._cifar100_names import SUPERCLASSES
from warlab.errors import WarlabError

# source class → {target class: share of the noise rate}; the shares of a source sum to 1
Flips = Mapping[int, Mapping[int, float]]

_TSHIRT, _TROUSER, _PULLOVER, _DRESS, _COAT, _SANDAL, _SHIRT, _SNEAKER, _BAG, _BOOT = range(10)
_AIRPLANE, _AUTOMOBILE, _BIRD, _CAT, _DEER, _DOG, _FROG, _HORSE, _SHIP, _TRUCK = range(10)

# The paper's list names Shirt as a source twice (to Coat, to Pullover) without saying how the rate is split.
# Halves keep the probability of a flip at the nominal rate, as in every other source class.
_FASHION_MNIST_PAPER: Flips = {
    _DRESS: {_TSHIRT: 1.0},
    _COAT: {_SHIRT: 1.0},
    _SHIRT: {_COAT: 0.5, _PULLOVER: 0.5},
    _SANDAL: {_SNEAKER: 1.0},
    _BOOT: {_SNEAKER: 1.0},
}

# The authors' code: Shirt goes to Coat only, Pullover to Shirt, and Ankle boot to Trouser.
_FASHION_MNIST_CODE: Flips = {
    _PULLOVER: {_SHIRT: 1.0},
    _DRESS: {_TSHIRT: 1.0},
    _COAT: {_SHIRT: 1.0},
    _SANDAL: {_SNEAKER: 1.0},
    _SHIRT: {_COAT: 1.0},
    _BOOT: {_TROUSER: 1.0},
}

# Patrini et al. (2017), and everybody after them.
_CIFAR10: Flips = {
    _TRUCK: {_AUTOMOBILE: 1.0},
    _BIRD: {_AIRPLANE: 1.0},
    _DEER: {_HORSE: 1.0},
    _CAT: {_DOG: 1.0},
    _DOG: {_CAT: 1.0},
}


def _cycles(groups: Iterable[Sequence[int]]) -> Flips:
    """Every class becomes the next of its group, the last the first."""
    return {group[i]: {group[(i + 1) % len(group)]: 1.0} for group in groups for i in range(len(group))}


# The paper speaks of superclasses; within one, the order is that of the data set's own listing.
_CIFAR100_PAPER = _cycles([[CIFAR100_NAMES.index(name) for name in members] for members in SUPERCLASSES])
# The authors' code takes five consecutive labels, which are alphabetical: apple, aquarium_fish, baby, bear, beaver.
_CIFAR100_CODE = _cycles([range(first, first + 5) for first in range(0, 100, 5)])

_PAPER: Mapping[str, tuple[int, Flips]] = {
    "fashion_mnist": (10, _FASHION_MNIST_PAPER),
    "cifar10": (10, _CIFAR10),
    "cifar100": (100, _CIFAR100_PAPER),
}
_CODE: Mapping[str, tuple[int, Flips]] = {
    "fashion_mnist": (10, _FASHION_MNIST_CODE),
    "cifar100": (100, _CIFAR100_CODE),
}


def clean(rate: float, dataset: str, n_classes: int) -> np.ndarray:
    return np.eye(n_classes)


def symmetric(rate: float, dataset: str, n_classes: int) -> np.ndarray:
    """Every other class with probability rate / (C - 1)."""
    matrix = np.full((n_classes, n_classes), rate / (n_classes - 1))
    np.fill_diagonal(matrix, 1 - rate)
    return matrix


def pairflip(rate: float, dataset: str, n_classes: int) -> np.ndarray:
    """Class i becomes i + 1, the last becomes the first (Han et al., 2018)."""
    return (1 - rate) * np.eye(n_classes) + rate * np.roll(np.eye(n_classes), 1, axis=1)


def asymmetric(rate: float, dataset: str, n_classes: int) -> np.ndarray:
    """Flips between similar classes, as the paper describes them."""
    return _named_flips("asym", _PAPER, rate, dataset, n_classes)


def asymmetric_code(rate: float, dataset: str, n_classes: int) -> np.ndarray:
    """Flips between similar classes, as the authors' code draws them where it differs from the paper."""
    return _named_flips("asym_code", _CODE, rate, dataset, n_classes)


def _named_flips(
    kind: str, tables: Mapping[str, tuple[int, Flips]], rate: float, dataset: str, n_classes: int
) -> np.ndarray:
    if dataset not in tables:
        raise WarlabError(
            f"{kind} noise is not defined for {dataset}, only for {', '.join(tables)}; take sym, pairflip or a file."
        )
    expected, flips = tables[dataset]
    if n_classes != expected:
        raise WarlabError(f"{kind} noise of {dataset} needs its {expected} classes, not {n_classes}.")
    return from_flips(flips, rate, n_classes)


def from_flips(flips: Flips, rate: float, n_classes: int) -> np.ndarray:
    """Each source class leaves with probability `rate`, split over its targets; other classes stay."""
    matrix = np.eye(n_classes)
    for source, targets in flips.items():
        matrix[source, source] = 1 - rate
        for target, share in targets.items():
            matrix[source, target] = rate * share
    return matrix
