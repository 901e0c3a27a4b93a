"""Registries of methods, networks, datasets, noises, costs and figures.

A registry is a folder, and each file in it is a member with the file's name. The exceptions are `base.py`, which has
the contract of the members, and files whose names begin with an underscore. What the workflow must know of a member
before it runs is read from the syntax tree of its file, because an import would load torch or matplotlib into every
small job.

Folders of the user's, the plug-ins, may have more members, in subfolders with the names in `SUBFOLDERS`: the folder
that the configuration names, and those of installed packages with an entry point in the group `warlab.plugins`.
"""

import ast
import os
import traceback
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from warlab.common import setting
from warlab.common.setting import Setting
from warlab.common.wording import suggest
from warlab.errors import WarlabError, reason

PACKAGE = Path(__file__).parent
PLUGINS = "WARLAB_PLUGINS"  # the variable that gives the folder to the processes of jobs
GROUP = "warlab.plugins"  # of entry points
SUBFOLDERS = {  # of the plug-ins: name → package
    "methods": "warlab.methods",
    "nets": "warlab.nets",
    "datasets": "warlab.data.sets",
    "noises": "warlab.noise.kinds",
    "costs": "warlab.ot.costs",
    "figures": "warlab.reporting.figures",
}


def use_plugins(folder: str | None = None) -> None:
    """Add the members of a folder of plug-ins to the registries, here and in the jobs that this process starts. Check
    them and those of installed packages."""
    if folder is not None:
        os.environ[PLUGINS] = str(Path(folder).resolve())
    for place in (place for place in plugins() if not place.is_dir()):
        raise WarlabError(f"plugins: {place} is not a folder; name the one with your methods, networks and others.")
    seen: dict[str, Path] = {}
    files = [file for place in plugins() for file in sorted(place.glob("*/*.py"))]
    for file in (file for file in files if file.name != "__init__.py"):  # which a package has in every folder
        if (kind := file.parent.name) not in SUBFOLDERS:
            raise WarlabError(f"plugins: {file} is in an unknown folder {kind!r}; {suggest(kind, SUBFOLDERS)}")
        if (_own_folder(SUBFOLDERS[kind]) / file.name).exists():
            raise WarlabError(f"plugins: {file} has the name of a file of warlab; rename it.")
        other = seen.setdefault(f"{kind}/{file.name}", file)
        if other != file:
            raise WarlabError(f"plugins: {file} has the name of {other}; rename one, or uninstall its package.")


def plugins() -> list[Path]:
    named = [Path(folder)] if (folder := os.environ.get(PLUGINS)) else []
    return list(dict.fromkeys([*named, *_installed()]))


@cache
def _installed() -> list[Path]:
    """Return the folders that packages name by entry points such as `mine = "package.folder"`; nothing is imported."""
    folders = []
    for point in entry_points(group=GROUP):
        package, *parts = point.value.split(".")
        spec = find_spec(package)
        roots = list((spec and spec.submodule_search_locations) or [package])
        folders.append(Path(roots[0]).joinpath(*parts).resolve())
    return folders


def plugin_file(module: str) -> Path | None:
    """Return the file of a module such as warlab.methods.mine, if it is a plug-in."""
    package, _, name = module.rpartition(".")
    return next((file for file in _plugin_files(package) if file.stem == name), None)


def place_in_plugin(error: BaseException) -> str | None:
    """Return the file and line of the plug-in that raised an error, or called what raised it, or None."""
    frames = [(Path(frame.filename), frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    places = [f"{file}, line {line}" for file, line in frames if any(map(file.is_relative_to, plugins()))]
    return places[-1] if places else None


def _plugin_files(package: str) -> list[Path]:
    names = [name for name, known in SUBFOLDERS.items() if known == package]
    return [file for root in plugins() for name in names for file in root.joinpath(name).glob("*.py")]


def _own_folder(package: str) -> Path:
    return PACKAGE.joinpath(*package.split(".")[1:])


class Registry:
    """The members of a package, as in `Registry("warlab.methods", "method")`; messages call a member `kind`."""

    def __init__(self, package: str, kind: str) -> None:
        self.package, self.kind = package, kind
        self.folder = _own_folder(package)

    def names(self) -> list[str]:
        files = [*self.folder.glob("*.py"), *_plugin_files(self.package)]
        return sorted({path.stem for path in files if path.stem in self})

    def __contains__(self, name: str) -> bool:
        shared = name == "base" or name.startswith("_")
        return name.isidentifier() and not shared and self.file(name).is_file()

    def file(self, name: str) -> Path:
        return plugin_file(self.module(name)) or self.folder / f"{name}.py"

    def check(self, name: str) -> None:
        if name not in self:
            raise WarlabError(f"There is no {self.kind} {name!r}; {suggest(name, self.names())}")

    def module(self, name: str) -> str:
        """Return the dotted name of a member's module."""
        return f"{self.package}.{name}"

    def load(self, name: str) -> ModuleType:
        """Import a member."""
        self.check(name)
        folder, package = str(self.file(name).parent), import_module(self.package)
        if folder not in package.__path__:
            package.__path__.append(folder)
        try:
            return import_module(self.module(name))
        except Exception as error:
            if isinstance(error, WarlabError) or plugin_file(self.module(name)) is None:
                raise
            where = place_in_plugin(error) or self.file(name)
            problem = f"{type(error).__name__}: {reason(error)}"
            raise WarlabError(f"{where} cannot be imported ({problem}); correct it.") from error

    def body(self, name: str, of_class: str = "") -> list[ast.stmt]:
        """Return the statements of a member's file, or of one of its classes; none if it has no such class."""
        self.check(name)
        file = self.file(name)
        body = _parse(file, file.stat().st_mtime_ns).body
        if of_class:
            return next((node.body for node in body if isinstance(node, ast.ClassDef) and node.name == of_class), [])
        return body

    def literals(self, name: str, of_class: str = "") -> dict[str, Any]:
        """Return the constants of a member's file, or of one of its classes."""
        return dict(pair for node in self.body(name, of_class) for pair in _assigned(node))

    def inherited(self, name: str, of_class: str) -> dict[str, Any]:
        """Return the constants of a class in a member's file, and those that it inherits from warlab or plug-ins."""
        return _constants(self.module(name), self.body(name), of_class)

    def settings(self, name: str) -> dict[str, Setting]:
        """Return the fields of a member's class `Config`; none if it has no such class."""
        file = f"{self.file(name).parent.name}/{name}.py"
        if any(_takes_config(node) for node in self.body(name)):
            raise WarlabError(
                f"{file} takes Config from elsewhere, unseen by the plan; write all settings in this file."
            )
        fields = [node for node in self.body(name, "Config") if isinstance(node, ast.AnnAssign)]
        return {ast.unparse(node.target): _setting(node, file) for node in fields}

    def methods(self, name: str, of_class: str) -> set[str]:
        """Return the names of the methods that a class in a member's file defines."""
        return {node.name for node in self.body(name, of_class) if isinstance(node, ast.FunctionDef)}


@cache
def _parse(file: Path, _mtime: int) -> ast.Module:
    try:
        return ast.parse(file.read_text())
    except (SyntaxError, ValueError) as error:
        line, reason = getattr(error, "lineno", 1), getattr(error, "msg", error)
        raise WarlabError(f"{file} is not Python in line {line} ({reason}); correct it.") from error


def _constants(module: str, body: list[ast.stmt], of_class: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    node = next((one for one in body if isinstance(one, ast.ClassDef) and one.name == of_class), None)
    if node is None:
        return found
    for base in reversed(node.bases):
        place, _, parent = _origin(module, body, ast.unparse(base)).rpartition(".")
        file = plugin_file(place) or PACKAGE.joinpath(*place.split(".")[1:]).with_suffix(".py")
        if place == module and parent != of_class:
            found |= _constants(place, body, parent)
        elif place != module and place.startswith(f"{PACKAGE.name}.") and file.is_file():
            found |= _constants(place, _parse(file, file.stat().st_mtime_ns).body, parent)
    return found | dict(pair for one in node.body for pair in _assigned(one))


def _origin(module: str, body: list[ast.stmt], name: str) -> str:
    """Return the dotted name that `name` stands for in a module with this body."""
    names: dict[str, str] = {}
    for node in body:
        if isinstance(node, ast.Import):
            names |= {alias.asname: alias.name for alias in node.names if alias.asname}
        elif isinstance(node, ast.ImportFrom):
            above = module.split(".")[: -node.level] if node.level else []
            package = ".".join([*above, *([node.module] if node.module else [])])
            names |= {alias.asname or alias.name: f"{package}.{alias.name}" for alias in node.names}
    first, dot, rest = name.partition(".")
    whole = first == PACKAGE.name and first not in names  # import warlab.methods.forward
    return name if whole else f"{names.get(first, f'{module}.{first}')}{dot}{rest}"


def _assigned(node: ast.stmt) -> list[tuple[str, Any]]:
    match node:
        case ast.Assign([ast.Name(name), *_], value) | ast.AnnAssign(ast.Name(name), _, ast.expr() as value):
            with suppress(ValueError):
                return [(name, ast.literal_eval(value))]
    return []


def _takes_config(node: ast.stmt) -> bool:
    """Return whether a statement imports `Config`, gives the name to another class, or lets it inherit."""
    match node:
        case ast.ImportFrom(_, names):
            return any((alias.asname or alias.name) == "Config" for alias in names)
        case ast.Assign([ast.Name("Config"), *_], _):
            return True
        case ast.ClassDef("Config"):
            return bool(node.bases)
    return False


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
