"""The data sets by name: every module of this folder that is not part of the machinery is one."""

import difflib
import importlib
import pkgutil
from functools import cache

from warlab.data.base import Dataset, Resource
from warlab.errors import WarlabError

_MACHINERY = {"archives", "base", "check", "cifar", "cifar100_names", "download", "drawn", "fetch", "idx", "pickles"}
_MACHINERY |= {"own", "prepare", "aerial", "packs", "photograph", "tiles", "weights"}
# fetched like a data set, but without images of their own
_RESOURCES = {"cifar_n", "efficientnet_lite0", "resnet18", "resnet50"}


def names() -> list[str]:
    return sorted({module.name for module in pkgutil.iter_modules(__path__)} - _MACHINERY - _RESOURCES)


@cache
def get(name: str) -> Dataset:
    """The data set of that name, found in the module warlab.data.<name>."""
    if name not in names():
        close = difflib.get_close_matches(name, names(), n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        raise WarlabError(f"There is no data set {name!r}; {hint}choose one of: {', '.join(names())}.")
    dataset: Dataset = importlib.import_module(f"warlab.data.{name}").DATASET
    return dataset


def resource(name: str) -> Resource:
    """A data set, or what else can be fetched: human labels that a noise reads, weights of pre-trained networks."""
    if name in _RESOURCES:
        found: Resource = importlib.import_module(f"warlab.data.{name}").RESOURCE
        return found
    return get(name)
