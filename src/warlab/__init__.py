"""warlab: learning with label noise. Losses, ground costs and optimal transport for your own PyTorch loop:

    from warlab import WARLoss, word_cost

They are imported when first used, so that `import warlab` is fast and the rules of the workflow need no torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from warlab.errors import WarlabError
    from warlab.ot.ground import centroid_cost, word_cost, zero_one_cost
    from warlab.ot.sinkhorn import sinkhorn
    from warlab.war import ARLoss, TVLoss, WARLoss

__version__ = "0.1.0"
__all__ = [
    "ARLoss",
    "TVLoss",
    "WARLoss",
    "WarlabError",
    "centroid_cost",
    "sinkhorn",
    "word_cost",
    "zero_one_cost",
]

_MODULES = {
    "ARLoss": "war",
    "TVLoss": "war",
    "WARLoss": "war",
    "WarlabError": "errors",
    "centroid_cost": "ot.ground",
    "sinkhorn": "ot.sinkhorn",
    "word_cost": "ot.ground",
    "zero_one_cost": "ot.ground",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'warlab' has no attribute {name!r}")
    return getattr(import_module(f"warlab.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
