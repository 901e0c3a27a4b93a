"""Networks by name: a network is a file of this folder with a class `Net` and, for its settings, a `Config`."""

from typing import TYPE_CHECKING, Any

from warlab.errors import WarlabError
from warlab.registry import Registry

if TYPE_CHECKING:
    from torch import nn

NETS = Registry("warlab.nets", "network")
names = NETS.names


def has_features(name: str) -> bool:
    """Return whether the network has a method `features` for the vector before its last layer."""
    return "features" in NETS.methods(name, "Net")


def makes_maps(name: str) -> bool:
    """Return whether the network predicts a class for every pixel, and not one for the whole image."""
    return bool(NETS.literals(name).get("MAPS", False))


def trainable() -> list[str]:
    """Return the networks that a study can train."""
    return [name for name in names() if NETS.literals(name).get("TRAINED", True)]


def build(name: str, channels: int, classes: int, **settings: Any) -> "nn.Module":
    """Build a network with random weights; seed torch before."""
    from torch.nn.parameter import is_lazy

    try:
        net: nn.Module = NETS.load(name).Net(channels, classes, **settings)
    except TypeError as error:
        raise WarlabError(
            f"Network {name} does not take these settings ({error}); see warlab/nets/{name}.py."
        ) from error
    if any(is_lazy(parameter) for parameter in net.parameters()):
        raise WarlabError(
            f"Network {name} has lazy layers, whose weights cannot be drawn before they see an image; give every layer "
            f"its size in warlab/nets/{name}.py."
        )
    return net
