"""Networks by name: a network is a file of this folder with a class `Net` and, for its settings, a `Config`.

A network of torchvision or timm, such as timm.convnext_tiny, is the file of its library with a model.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from warlab.common.wording import suggest
from warlab.errors import WarlabError, reason
from warlab.nets._library import LIBRARIES, models
from warlab.registry import Registry

if TYPE_CHECKING:
    from torch import Tensor, nn


def file_of(name: str) -> str:
    """Return the file of a network: `timm` for timm.convnext_tiny, otherwise the name."""
    library, _, model = name.partition(".")
    return library if model and library in LIBRARIES else name


class _Networks(Registry):
    def __contains__(self, name: str) -> bool:
        return super().__contains__(file_of(name))

    def module(self, name: str) -> str:
        return super().module(file_of(name))

    def file(self, name: str) -> Path:
        return super().file(file_of(name))


NETS = _Networks("warlab.nets", "network")
names = NETS.names


def check(name: str) -> None:
    """Raise a WarlabError unless a study can train this network."""
    library = file_of(name)
    known = [one for one in trainable() if one not in LIBRARIES]
    if library != name:
        known = [f"{library}.{model}" for model in models(library)]
    if name not in known:
        examples = [f"{other}.resnet18" for other in LIBRARIES if library == name]
        raise WarlabError(f"There is no network {name!r}; {suggest(name, [*known, *examples])}")


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
    """Build a network; seed torch before, because its weights are random."""
    from torch.nn.parameter import is_lazy

    try:
        model = {} if file_of(name) == name else {"model": name.partition(".")[2]}
        net: nn.Module = NETS.load(name).Net(channels, classes, **model, **settings)
    except TypeError as error:
        raise WarlabError(
            f"Network {name} does not take these settings ({error}); see warlab/nets/{file_of(name)}.py."
        ) from error
    if any(is_lazy(parameter) for parameter in net.parameters()):
        raise WarlabError(
            f"Network {name} has lazy layers, whose weights cannot be drawn before they see an image; give every layer "
            f"its size in warlab/nets/{name}.py."
        )
    return net


def check_images(net: "nn.Module", name: str, images: "Tensor") -> None:
    """Raise a WarlabError if a network cannot take these images, such as a transformer those of another size, or these
    vectors."""
    import torch

    was_training = net.training
    try:
        with torch.no_grad(), torch.random.fork_rng():
            net.eval()(images)
    except (RuntimeError, AssertionError, ValueError) as error:
        size = " × ".join(map(str, images.shape[1:]))
        what, other = ("images", "network or `size`") if images.dim() == 4 else ("vectors", "network, such as mlp")
        raise WarlabError(
            f"The network {name} cannot take {what} of {size} ({reason(error)}); choose another {other}."
        ) from error
    net.train(was_training)
