"""Methods by name: a method is a file of this folder with a class `Algorithm` and, for its settings, a `Config`."""

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from warlab.errors import WarlabError
from warlab.registry import Registry

if TYPE_CHECKING:
    from warlab.methods.base import Method, Task

METHODS = Registry("warlab.methods", "method")
names = METHODS.names


@dataclass(frozen=True)
class Declaration:
    """The literals of a method's file: the defaults of its `Config` and its class attributes."""

    name: str
    settings: dict[str, Any]
    needs_run: str | None  # another method whose run of the same cell must come first
    label: str


@cache
def declaration(name: str) -> Declaration:
    """What a method says of itself, read without importing torch."""
    if "Algorithm" not in METHODS.classes(name):
        raise WarlabError(f"methods/{name}.py has no class named Algorithm; see docs on adding a method.")
    attributes = METHODS.literals(name, "Algorithm")
    settings = METHODS.literals(name, "Config")
    return Declaration(name, settings, attributes.get("needs_run"), attributes.get("label", name))


def make(name: str, settings: dict[str, Any], task: "Task") -> "Method":
    """The method with these settings on this task; a setting it does not have is one clear sentence."""
    unknown = sorted(set(settings) - set(declaration(name).settings))
    if unknown:
        known = ", ".join(declaration(name).settings) or "none"
        raise WarlabError(f"Method {name} has no setting {unknown[0]!r}; it has: {known}.")
    module = METHODS.load(name)
    config = module.Config(**settings) if hasattr(module, "Config") else None
    method: Method = module.Algorithm(config, task)
    return method
