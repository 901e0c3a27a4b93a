"""Methods by name: a method is a file of this folder with a class `Algorithm` and, for its settings, a `Config`."""

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from warlab.common.setting import Setting
from warlab.errors import WarlabError
from warlab.registry import Registry

if TYPE_CHECKING:
    from warlab.methods.base import Method, Task

METHODS = Registry("warlab.methods", "method")
names = METHODS.names


@dataclass(frozen=True)
class Declaration:
    """What is known of a method before its file is imported: the fields of `Config` and its class attributes."""

    settings: dict[str, Setting]
    needs_run: str | tuple[str, dict[str, str]] | None  # see `Method`
    label: str
    images_only: bool | tuple[str, str]  # the same

    def refuses_tiles(self, settings: dict[str, Any]) -> bool:
        """Return whether the method with these settings cannot train on pixels of tiles."""
        if isinstance(self.images_only, tuple):
            setting, value = self.images_only
            return bool(settings[setting] == value)
        return self.images_only


@cache
def declaration(name: str) -> Declaration:
    """Return the declaration of a method, read from its file without importing torch."""
    if not METHODS.body(name, "Algorithm"):
        raise WarlabError(f"methods/{name}.py has no class named Algorithm; see docs on adding a method.")
    values = {"needs_run": None, "images_only": False} | METHODS.inherited(name, "Algorithm")
    label = METHODS.literals(name, "Algorithm").get("label", name)
    return Declaration(METHODS.settings(name), values["needs_run"], label, values["images_only"])


def make(name: str, settings: dict[str, Any], task: "Task") -> "Method":
    """Make the method with these settings for this task; an unknown setting or word is an error."""
    known = declaration(name).settings
    for key, value in sorted(settings.items()):
        if key not in known:
            raise WarlabError(f"Method {name} has no setting {key!r}; it has: {', '.join(known) or 'none'}.")
        if isinstance(value, str) and known[key].words and value not in known[key].words:
            raise WarlabError(f"Method {name}: {key} is {value!r}; it must be {' or '.join(known[key].words)}.")
    module = METHODS.load(name)
    for attribute in ("needs_run", "images_only"):
        planned = getattr(declaration(name), attribute)
        if (value := getattr(module.Algorithm, attribute, planned)) != planned:
            raise WarlabError(
                f"Method {name} has {attribute} = {value!r}, which the plan does not see; write it in its class."
            )
    config = module.Config(**settings) if hasattr(module, "Config") else None
    method: Method = module.Algorithm(config, task)
    return method
