"""Networks, found by their name: `build("cnn9", …)` makes the class `Net` of warlab/nets/cnn9.py."""

from importlib import import_module
from pathlib import Path
from typing import Any

from torch import nn

from warlab.errors import WarlabError


def names() -> list[str]:
    return sorted(p.stem for p in Path(__file__).parent.glob("*.py") if not p.stem.startswith("_"))


def build(name: str, channels: int, classes: int, **settings: Any) -> nn.Module:
    """A freshly initialised network; draw its weights by seeding torch before."""
    if name not in names():
        raise WarlabError(f"There is no network {name!r}; known are {', '.join(names())}.")
    try:
        return import_module(f"warlab.nets.{name}").Net(channels, classes, **settings)
    except TypeError as error:
        raise WarlabError(
            f"Network {name} does not take these settings ({error}); see warlab/nets/{name}.py."
        ) from error
