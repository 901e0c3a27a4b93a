"""How methods, networks, datasets, noises, costs, figures and checks of claims are found.

A registry is a folder. Each file in it is a member with the file's name. Files whose names begin with an underscore and
`base.py`, the contract of the members, are shared parts and no members. What the workflow must know of a member before
it runs is a literal in its file. It is read from the syntax tree, because an import would load torch or matplotlib into
every small job.
"""

import ast
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Registry:
    """The members of a package, such as `Registry("warlab.methods", "method")`; `kind` is their name in messages."""

    package: str
    kind: str

    @property
    def folder(self) -> Path:
        return PACKAGE.joinpath(*self.package.split(".")[1:])

    def names(self) -> list[str]:
        return sorted(path.stem for path in self.folder.glob("*.py") if path.stem in self)

    def __contains__(self, name: str) -> bool:
        shared = name == "base" or name.startswith("_")
        return name.isidentifier() and not shared and (self.folder / f"{name}.py").is_file()

    def check(self, name: str) -> None:
        if name not in self:
            raise WarlabError(f"There is no {self.kind} {name!r}; {suggest(name, self.names())}")

    def module(self, name: str) -> str:
        """The dotted name of a member's module."""
        return f"{self.package}.{name}"

    def load(self, name: str) -> ModuleType:
        """Import a member."""
        self.check(name)
        return import_module(self.module(name))

    def literals(self, name: str, of_class: str = "") -> dict[str, Any]:
        """The constants at the top of a member's file, or of one of its classes, without an import."""
        self.check(name)
        file = self.folder / f"{name}.py"
        return dict(_literals(file, of_class, file.stat().st_mtime_ns))

    def settings(self, name: str) -> dict[str, Setting]:
        """The fields of a member's class `Config`, without an import; none where it has no such class."""
        self.check(name)
        file = self.folder / f"{name}.py"
        return dict(_settings(file, file.stat().st_mtime_ns))

    def classes(self, name: str) -> set[str]:
        """The classes that a member defines, without an import."""
        self.check(name)
        tree = ast.parse((self.folder / f"{name}.py").read_text())
        return {node.name for node in tree.body if isinstance(node, ast.ClassDef)}

    def methods(self, name: str, of_class: str) -> set[str]:
        """The methods that one of a member's classes defines itself, without an import."""
        self.check(name)
        tree = ast.parse((self.folder / f"{name}.py").read_text())
        found = [node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == of_class]
        return {node.name for body in found for node in body if isinstance(node, ast.FunctionDef)}


@cache
def _literals(file: Path, of_class: str, _changed: int) -> dict[str, Any]:
    return dict(pair for node in _body(file, of_class) for pair in _assigned(node))


def _body(file: Path, of_class: str) -> list[ast.stmt]:
    body: list[ast.stmt] = ast.parse(file.read_text()).body
    if of_class:
        return next((node.body for node in body if isinstance(node, ast.ClassDef) and node.name == of_class), [])
    return body


def _assigned(node: ast.stmt) -> list[tuple[str, Any]]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    if not targets or not isinstance(targets[0], ast.Name) or node.value is None:  # type: ignore[attr-defined]
        return []
    try:
        return [(targets[0].id, ast.literal_eval(node.value))]  # type: ignore[attr-defined]
    except ValueError:
        return []


@cache
def _settings(file: Path, _changed: int) -> dict[str, Setting]:
    fields = [node for node in _body(file, "Config") if isinstance(node, ast.AnnAssign)]
    return {ast.unparse(node.target): _setting(node, file) for node in fields}


def _setting(node: ast.AnnAssign, file: Path) -> Setting:
    """Of `share: float = 0.1`, or of a call of `setting`."""
    given = node.value
    try:
        if isinstance(given, ast.Call) and ast.unparse(given.func) == "setting":
            named = {one.arg or "": ast.literal_eval(one.value) for one in given.keywords}
            made = setting.setting(*map(ast.literal_eval, given.args), **named)
        else:
            made = ast.literal_eval(given or "")
    except (ValueError, TypeError, SyntaxError) as error:
        where = f"{file.parent.name}/{file.name}: {ast.unparse(node)}"
        raise WarlabError(f"{where} cannot be read ({error}); write a value, or setting(value, source, …).") from error
    return setting.described(ast.unparse(node.annotation), made)
