"""The one registry of methods: a method is a file here, found by its name.

What the workflow must know of a method before anything is trained (its settings, what it needs) is read from the
file's syntax tree, because importing it would import torch into every small job.
"""

import ast
import difflib
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warlab.errors import WarlabError

if TYPE_CHECKING:
    from warlab.methods.base import Method, Task

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Declaration:
    """The literals of a method's file: the defaults of its `Config` and its class attributes."""

    name: str
    settings: dict[str, Any]
    needs_run: str | None  # another method whose run of the same cell must come first
    label: str


def names() -> list[str]:
    return sorted(p.stem for p in FOLDER.glob("*.py") if p.stem != "base" and not p.stem.startswith("_"))


@cache
def declaration(name: str) -> Declaration:
    if name not in names():
        close = difflib.get_close_matches(name, names(), 1)
        hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(names())}."
        raise WarlabError(f"There is no method {name!r} in {FOLDER.name}/; {hint}")
    classes = {
        node.name: node
        for node in ast.parse((FOLDER / f"{name}.py").read_text()).body
        if isinstance(node, ast.ClassDef)
    }
    if "Algorithm" not in classes:
        raise WarlabError(f"methods/{name}.py has no class named Algorithm; see docs on adding a method.")
    attributes = _literals(classes["Algorithm"])
    settings = _literals(classes["Config"]) if "Config" in classes else {}
    return Declaration(name, settings, attributes.get("needs_run"), attributes.get("label", name))


def _literals(node: ast.ClassDef) -> dict[str, Any]:
    found = {}
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and item.value is not None:
            found[item.target.id] = ast.literal_eval(item.value)
        elif isinstance(item, ast.Assign) and isinstance(item.targets[0], ast.Name):
            found[item.targets[0].id] = _literal_or_none(item.value)
    return found


def _literal_or_none(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


def make(name: str, settings: dict[str, Any], task: "Task") -> "Method":
    """The method with these settings on this task; a setting it does not have is one clear sentence."""
    unknown = sorted(set(settings) - set(declaration(name).settings))
    if unknown:
        known = ", ".join(declaration(name).settings) or "none"
        raise WarlabError(f"Method {name} has no setting {unknown[0]!r}; it has: {known}.")
    module = import_module(f"warlab.methods.{name}")
    config = module.Config(**settings) if hasattr(module, "Config") else None
    return module.Algorithm(config, task)
