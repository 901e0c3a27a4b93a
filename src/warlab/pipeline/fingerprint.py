"""A hash of the code that a result depends on: the syntax trees of a script and of all warlab modules that it imports.

Comments, docstrings, log lines and the texts of errors are left out, and so are modules that only read, write or lock.
A module or script that reads files of the package, such as templates or word vectors, names them in `ASSETS`, a tuple
of patterns relative to src/warlab; their content is part of the hash.

Snakemake's own `code` trigger reruns every training after a changed comment and none after a changed loss. This hash is
a parameter of the rules, and it changes only when the code does something else.
"""

import ast
import atexit
import hashlib
import json
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

from warlab.common.files import file_digest, write_text

ROOT = Path(__file__).parents[1]
NOTES = Path(".snakemake")
MOST = 2000  # source files in the cache; the oldest are dropped
Parsed = dict[str, list[str]]  # of a source file: the hash of its tree, imports, assets

# These modules read, write, lock, log and look up names; they decide no number. What they import still counts.
INERT = {
    "warlab",
    "warlab.common.setting",
    "warlab.errors",
    "warlab.registry",
    "warlab.artefacts",
    "warlab.artefacts.run_result",
    "warlab.common",
    "warlab.common.files",
    "warlab.common.progress",
    "warlab.common.wording",
    "warlab.engine",
    "warlab.engine.checkpoint",
    "warlab.engine.lock",
    "warlab.engine.provenance",
    "warlab.engine.run",
    "warlab.methods",
    "warlab.nets",
    "warlab.pipeline.script",
}
_LOGGERS, _LEVELS = {"log", "logger"}, {"debug", "info", "warning", "error", "exception"}


def fingerprint(script: Path, *modules: str) -> str:
    """Hash of a script, of these modules ("warlab.war"), and of every warlab module that they import in turn."""
    parsed = _parse(script, script.stat().st_mtime_ns)
    queue, seen = [*parsed["imports"], *modules], set()
    while queue:
        module = queue.pop()
        if module not in seen:
            seen.add(module)
            queue += _module(module)["imports"]
    trees = [f"{name} {_content(_module(name))}" for name in sorted(seen - INERT)]
    return hashlib.sha256("\n".join([_content(parsed), *trees]).encode()).hexdigest()[:16]


def _content(parsed: Parsed) -> str:
    files = sorted(path for pattern in parsed["assets"] for path in ROOT.glob(pattern))
    return " ".join([*parsed["tree"], *(f"{path.name} {_asset(path, path.stat().st_mtime_ns)}" for path in files)])


@cache
def _asset(path: Path, _mtime: int) -> str:
    return file_digest(path)


def _module(name: str) -> Parsed:
    file = _file(name)
    return _parse(file, file.stat().st_mtime_ns)


def _file(module: str) -> Path:
    return _file_in(ROOT, module)


@cache
def _file_in(root: Path, module: str) -> Path:
    path = root.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def _parse(file: Path, _mtime: int) -> Parsed:
    digest, known = file_digest(file), _store().known
    if digest not in known:
        known[digest] = _read(file.read_text())
    return known[digest] | {"imports": [name for name in known[digest]["imports"] if _file(name).exists()]}


def _read(source: str) -> Parsed:
    tree = _WhatCounts().visit(ast.parse(source))
    names = [name for node in ast.walk(tree) for name in _imported(node)]
    digest = hashlib.sha256(ast.dump(tree).encode()).hexdigest()
    return {"tree": [digest], "imports": names, "assets": assets(tree)}


def assets(tree: ast.Module) -> list[str]:
    """The patterns of `ASSETS = ("assets/…", …)` in a module."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(getattr(target, "id", "") == "ASSETS" for target in node.targets):
            return list(ast.literal_eval(node.value))
    return []


class _WhatCounts(ast.NodeTransformer):
    """Removes docstrings, log lines, the texts of WarlabError and the arguments of settings."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if documented and ast.get_docstring(node) is not None:  # type: ignore[arg-type]
            node.body = node.body[1:]  # type: ignore[attr-defined]
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        match node.value:
            case ast.Call(ast.Attribute(ast.Name(name), level)) if name in _LOGGERS and level in _LEVELS:
                return ast.Pass()
        return self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        match node.exc:
            case ast.Call(ast.Name("WarlabError")) as error:
                error.args = [ast.Constant("") if _is_text(one) else one for one in error.args]
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Remove the arguments of `setting(0.1, "paper", minimum=0)`: the value is a parameter of the rule, and its
        source and range change no result."""
        if isinstance(node.func, ast.Name) and node.func.id == "setting":
            node.args, node.keywords = [], []
        return self.generic_visit(node)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _imported(node: ast.AST) -> list[str]:
    """The warlab names in an import statement, whether or not they are modules."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.module:
        names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    else:
        return []
    return [name for name in names if name.startswith("warlab.")]


# ---- a cache of parsed source files, in Snakemake's own folder
#
# Parsing all modules takes most of the time of reading the rules, and on a cluster every job reads the rules. The key
# is the hash of a file's content, so that an entry is never out of date.


class TreeStore:
    """Digest of a source file → its parsed content. If the cache cannot be read or written, all is parsed again."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.known: dict[str, Parsed] = {}
        with suppress(OSError, ValueError, TypeError):
            self.known |= json.loads(file.read_text())
        self.kept = len(self.known)

    def save(self) -> None:
        if len(self.known) > self.kept and self.file.parent.is_dir():
            with suppress(OSError):  # a read-only or full disk
                write_text(self.file, json.dumps(dict(list(self.known.items())[-MOST:])))


@cache
def _store() -> TreeStore:
    """The cache for this version of this file and of Python."""
    version = f"{file_digest(Path(__file__))[:16]}-{sys.version_info.major}.{sys.version_info.minor}"
    trees = TreeStore((NOTES / f"warlab-trees-{version}.json").resolve())
    atexit.register(trees.save)
    return trees
