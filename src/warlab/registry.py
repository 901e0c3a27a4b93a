"""Registries of methods, networks, datasets, noises, costs and figures.

A registry is a folder, and each file in it is a member with the file's name. The exceptions are `base.py`, which has
the contract of the members, and files whose names begin with an underscore. What the workflow must know of a member
before it runs is read from the syntax tree of its file, because an import would load torch or matplotlib into every
small job.
"""

import ast
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from warlab.common import setting
from warlab.common.setting import Setting
from warlab.common.wording import suggest
from warlab.errors import WarlabError

PACKAGE = Path(__file__).parent


class Registry:
    """The members of a package, as in `Registry("warlab.methods", "method")`; messages call a member `kind`."""

    def __init__(self, package: str, kind: str) -> None:
        self.package, self.kind = package, kind
        self.folder = PACKAGE.joinpath(*package.split(".")[1:])

    def names(self) -> list[str]:
        return sorted(path.stem for path in self.folder.glob("*.py") if path.stem in self)

    def __contains__(self, name: str) -> bool:
        shared = name == "base" or name.startswith("_")
        return name.isidentifier() and not shared and (self.folder / f"{name}.py").is_file()

    def check(self, name: str) -> None:
        if name not in self:
            raise WarlabError(f"There is no {self.kind} {name!r}; {suggest(name, self.names())}")

    def module(self, name: str) -> str:
        """Return the dotted name of a member's module."""
        return f"{self.package}.{name}"

    def load(self, name: str) -> ModuleType:
        """Import a member."""
        self.check(name)
        return import_module(self.module(name))

    def body(self, name: str, of_class: str = "") -> list[ast.stmt]:
        """Return the statements of a member's file, or of one of its classes; none if it has no such class."""
        self.check(name)
        file = self.folder / f"{name}.py"
        body = _parse(file, file.stat().st_mtime_ns).body
        if of_class:
            return next((node.body for node in body if isinstance(node, ast.ClassDef) and node.name == of_class), [])
        return body

    def literals(self, name: str, of_class: str = "") -> dict[str, Any]:
        """Return the constants of a member's file, or of one of its classes."""
        return dict(pair for node in self.body(name, of_class) for pair in _assigned(node))

    def settings(self, name: str) -> dict[str, Setting]:
        """Return the fields of a member's class `Config`; none if it has no such class."""
        fields = [node for node in self.body(name, "Config") if isinstance(node, ast.AnnAssign)]
        return {ast.unparse(node.target): _setting(node, f"{self.folder.name}/{name}.py") for node in fields}

    def methods(self, name: str, of_class: str) -> set[str]:
        """Return the names of the methods that a class in a member's file defines."""
        return {node.name for node in self.body(name, of_class) if isinstance(node, ast.FunctionDef)}


@cache
def _parse(file: Path, _mtime: int) -> ast.Module:
    return ast.parse(file.read_text())


def _assigned(node: ast.stmt) -> list[tuple[str, Any]]:
    match node:
        case ast.Assign([ast.Name(name), *_], value) | ast.AnnAssign(ast.Name(name), _, ast.expr() as value):
            with suppress(ValueError):
                return [(name, ast.literal_eval(value))]
    return []


def _setting(node: ast.AnnAssign, file: str) -> Setting:
    """Read a field such as `share: float = 0.1`, or one whose value is a call of `setting`."""
    value = node.value
    try:
        if isinstance(value, ast.Call) and ast.unparse(value.func) == "setting":
            keywords = {keyword.arg or "": ast.literal_eval(keyword.value) for keyword in value.keywords}
            default = setting.setting(*map(ast.literal_eval, value.args), **keywords)
        else:
            default = ast.literal_eval(value or "")
    except (ValueError, TypeError, SyntaxError) as error:
        where = f"{file}: {ast.unparse(node)}"
        raise WarlabError(f"{where} cannot be read ({error}); write a value, or setting(value, source, …).") from error
    return setting.described(ast.unparse(node.annotation), default)
