"""Networks by name: a network is a file of this folder with a class `Net`."""

from typing import Any

from torch import nn

from warlab.errors import WarlabError
from warlab.registry import Registry

NETS = Registry("warlab.nets", "network")
names = NETS.names


def build(name: str, channels: int, classes: int, **settings: Any) -> nn.Module:
    """A freshly initialised network; draw its weights by seeding torch before."""
    try:
        net: nn.Module = NETS.load(name).Net(channels, classes, **settings)
    except TypeError as error:
        raise WarlabError(
            f"Network {name} does not take these settings ({error}); see warlab/nets/{name}.py."
        ) from error
    return net
