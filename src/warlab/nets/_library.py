"""Networks of torchvision and timm by name, such as torchvision.resnet18 and timm.convnext_tiny."""

import pickle
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warlab.common.cache import FileCache
from warlab.errors import WarlabError, reason

if TYPE_CHECKING:
    from torch import nn

LIBRARIES = ("timm", "torchvision")


@cache
def models(library: str) -> list[str]:
    """Return the names of a library's networks for images, remembered because an import takes seconds."""
    try:
        installed = version(library)
    except PackageNotFoundError as error:
        raise WarlabError(
            f"The networks {library}.… need {library}, which is missing: pip install -c requirements.txt -e .[nets]"
        ) from error
    return list(FileCache("networks").get(f"{library} {installed}", lambda: _list(library)))


def _list(library: str) -> list[str]:
    from warlab.common.vision import load_timm, torchvision

    if library == "timm":
        return list(load_timm().list_models())
    return list(torchvision.models.list_models(module=torchvision.models))


def adapt_channels(body: "nn.Module", channels: int) -> None:
    """Replace the first convolution by one with random weights, unless it is for this number of channels."""
    from torch import nn

    name, first = next((name, one) for name, one in body.named_modules() if isinstance(one, nn.Conv2d))
    if first.in_channels != channels:
        settings: dict[str, Any] = {key: getattr(first, key) for key in ("stride", "padding", "dilation")}
        bias, size = first.bias is not None, (first.kernel_size[0], first.kernel_size[1])
        body.set_submodule(name, nn.Conv2d(channels, first.out_channels, size, bias=bias, **settings))


def replace_last(
    body: "nn.Module", last: object, name: str, channels: int, classes: int, weights: str | None, dropout: float = 0.0
) -> "nn.Module":
    """Take the `last` layer out of a network, which then returns features, and return one for these classes. `weights`
    is the file of a state dict for colour images, with a last layer of any size, or none."""
    from torch import nn

    from warlab.nets._layers import initialise

    place = next((place for place, module in body.named_modules() if module is last), None)
    if place is None or not isinstance(last, nn.Linear) or getattr(body, "aux_logits", False):
        raise WarlabError(f"The network {name} does not end in a single dense layer; choose another one.")
    body.set_submodule(place, nn.Identity())
    if weights not in (None, "none"):
        if channels != 3:
            raise WarlabError(f"ImageNet weights are for colour images, not for {channels} channels: set weights none.")
        _load(body, str(weights), f"{place}.", name)
    head = nn.Linear(last.in_features, classes)
    initialise(head)
    return nn.Sequential(nn.Dropout(dropout), head) if dropout else head


def _load(body: "nn.Module", weights: str, last: str, name: str) -> None:
    import torch

    try:
        state = torch.load(Path(weights), weights_only=True, map_location="cpu")
        body.load_state_dict({key: value for key, value in state.items() if not key.startswith(last)})
    except (OSError, RuntimeError, EOFError, TypeError, AttributeError, pickle.UnpicklingError) as error:
        raise WarlabError(
            f"The weights {weights} of {name} cannot be read or do not fit ({reason(error)}); check "
            f"nets.{name}.weights, or take those of its library."
        ) from error
