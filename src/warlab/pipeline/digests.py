"""Digests of the code that a result depends on: a script, and every warlab module that it reaches through imports.

Snakemake's own `code` trigger reruns every training after a changed comment and none after a changed loss. Instead,
these digests are parameters of the rules. The digest of a module is that of its syntax tree without what decides no
number: comments, docstrings, annotations of functions, log lines, the texts of errors, and the arguments of
`setting(…)`, whose value is a parameter of the rule. It is the same in every version of Python.

A module or script that reads files of the package, such as templates or word vectors, names them in `ASSETS`, a tuple
of patterns relative to src/warlab; their contents count like modules.
"""

import ast
import json
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from importlib.util import resolve_name
from pathlib import Path
from typing import NamedTuple

from warlab.common.cache import FileCache, remembered_digest
from warlab.common.files import digest, file_digest
from warlab.registry import plugin_file

ROOT = Path(__file__).parents[1]
LENGTH = 12  # hexadecimal digits of a digest

# Modules that a training reaches but that decide no number, and why; what they import is still followed. All others
# count, so that a module that a user adds is not missed. A test lists the packages that compute the numbers of a
# training, and demands that each module outside of them is named here.
DECIDES_NO_NUMBER = {
    "warlab.artefacts*": "reads and writes files, whose contents are compared by checksum",
    "warlab.common": "is empty",
    "warlab.common.cache": "remembers values that are computed again if it is lost",
    "warlab.common.curves": "writes curves for TensorBoard",
    "warlab.common.files": "reads and writes files",
    "warlab.common.progress": "estimates the remaining time",
    "warlab.common.setting": "declares settings, whose values are parameters of the rules",
    "warlab.common.wording": "words messages",
    "warlab.data": "looks up datasets by name",
    "warlab.data.base": "declares what a dataset has; checks files by their checksums",
    "warlab.data.fetch": "downloads and copies files, which are then checked by their checksums",
    "warlab.data.in_place": "finds the user's files, whose contents are compared by checksum",
    "warlab.engine": "is empty",
    "warlab.engine.checkpoint": "saves and restores states without changing them",
    "warlab.engine.lock": "waits for a free run folder or GPU",
    "warlab.engine.provenance": "describes the machine",
    "warlab.engine.run": "writes the results that `engine.train` has computed",
    "warlab.errors": "declares errors",
    "warlab.ids": "parses and prints names",
    "warlab.ot.verify": "checks ground costs, which it does not change",
    "warlab.pipeline.script": "logs and ends a job",
    "warlab.registry": "looks up files by name",
}
# `engine.build` imports all kinds of samples; of these, only the one that a run names is reached.
CHOSEN_BY_NAME = ("warlab.engine.stored", "warlab.engine.tiles")


def counts(module: str) -> bool:
    """Return whether a change of the module can change a number."""
    return not any(fnmatchcase(module, pattern) for pattern in DECIDES_NO_NUMBER)


def module_digests(script: Path, *modules: str) -> dict[str, str]:
    """Return the digests of a script, of these modules ("warlab.war"), of every module that they reach through imports
    and that counts, and of their assets, by the path of the file."""
    sources = {f"scripts/{script.name}": _source(script, script.stat().st_mtime_ns)}
    for module in sorted(reached_modules(script, *modules)):
        if counts(module):
            file = _file(ROOT, module)
            sources[_name(file)] = _source(file, file.stat().st_mtime_ns)
    digests = {name: source.digest for name, source in sources.items()}
    patterns = {pattern for source in sources.values() for pattern in source.assets}
    for path in (path for pattern in patterns for path in ROOT.glob(pattern)):
        digests[path.relative_to(ROOT).as_posix()] = remembered_digest(path)[:LENGTH]
    return dict(sorted(digests.items()))  # Snakemake compares the text of a parameter, which has an order


def code_digest(script: Path, *modules: str) -> str:
    """Return one digest of all `module_digests`, for jobs that are cheap to run again."""
    return digest(json.dumps(module_digests(script, *modules), sort_keys=True).encode())[:LENGTH]


def reached_modules(script: Path, *modules: str) -> set[str]:
    """Return these modules and all warlab modules that they and the script reach through imports."""
    queue, reached = [*_source(script, script.stat().st_mtime_ns).imports, *modules], set[str]()
    while queue:
        module = queue.pop()
        file = _file(ROOT, module)
        if module not in reached and file.exists() and (module in modules or module not in CHOSEN_BY_NAME):
            reached.add(module)
            package = module if file.name == "__init__.py" else module.rpartition(".")[0]
            queue += [resolve_name(name, package) for name in _source(file, file.stat().st_mtime_ns).imports]
    return reached


def _file(root: Path, module: str) -> Path:
    path = root.joinpath(*module.split(".")[1:])
    return plugin_file(module) or (path / "__init__.py" if path.is_dir() else path.with_suffix(".py"))


def _name(file: Path) -> str:
    """Return the path of a module in the package, or in the folder of plug-ins."""
    return file.relative_to(ROOT).as_posix() if file.is_relative_to(ROOT) else f"plugins/{file.parent.name}/{file.name}"


# ---- source files


class Source(NamedTuple):
    """What counts in a source file: the digest of its tree, the warlab names it imports, the patterns of its assets."""

    digest: str
    imports: list[str]
    assets: list[str]


@cache
def _source(file: Path, _mtime: int) -> Source:
    # Parsing takes a second for all modules, and every job on a cluster reads the rules.
    key = file_digest(file)
    return Source(*_parsed().get(key, lambda: read_source(file.read_text())))


@cache
def _parsed() -> FileCache:
    """Return the sources that this version of this file has read."""
    return FileCache(f"sources-{file_digest(Path(__file__))[:LENGTH]}")


def read_source(text: str) -> Source:
    tree = ast.parse(text)
    names = _names(tree)
    tree = _WhatCounts().visit(tree)
    ignored = names - _names(tree)  # names in annotations and messages only
    imports = sorted({(name, origin) for name, origin in _imports(tree) if name not in ignored})
    content = serialise(tree) + "".join(f"\n{name}={origin}" for name, origin in imports)
    origins = {part for _, origin in imports for part in (origin, origin.rpartition(".")[0])}
    reached = sorted(name for name in origins if name.startswith(("warlab.", ".")))
    return Source(digest(content.encode())[:LENGTH], reached, asset_patterns(tree))


def asset_patterns(tree: ast.Module) -> list[str]:
    """Return the patterns of `ASSETS = ("assets/…", …)` in a module."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(getattr(target, "id", "") == "ASSETS" for target in node.targets):
            return list(ast.literal_eval(node.value))
    return []


def serialise(value: object) -> str:
    """Return a syntax tree as text, the same in all versions of Python: without imports, which are listed apart,
    without empty fields, which some versions leave out, and without fields that follow from others."""
    if isinstance(value, list):
        parts = [serialise(part) for part in value if not isinstance(part, ast.Import | ast.ImportFrom)]
        return f"[{','.join(parts)}]"
    if isinstance(value, ast.Constant):
        return f"{type(value.value).__name__}:{value.value!a}"
    if isinstance(value, ast.AST):
        fields = [(name, getattr(value, name, None)) for name in value._fields if name not in ("ctx", "type_comment")]
        parts = [f"{name}={serialise(part)}" for name, part in fields if part is not None and part != []]
        return f"{type(value).__name__}({','.join(parts)})"
    return ascii(value)


def _names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _imports(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield the names that import statements define, and what they stand for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.asname or alias.name, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = "." * node.level + (f"{node.module}." if node.module else "")  # ._mine is in the same package
            yield from ((alias.asname or alias.name, package + alias.name) for alias in node.names)


class _WhatCounts(ast.NodeTransformer):
    """Removes what decides no number, see the docstring of this file."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_Pass(self, node: ast.Pass) -> None:
        return None

    def visit_If(self, node: ast.If) -> ast.AST | None:
        return None if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING" else self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        match node.value:
            case ast.Constant() | ast.Call(ast.Attribute(ast.Name("log" | "logger"), _)):
                return None
        return self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        match node.exc:
            case ast.Call(ast.Name("WarlabError")) as error:
                texts = (ast.JoinedStr, ast.Constant)
                error.args = [ast.Constant("") if isinstance(part, texts) else part for part in error.args]
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id == "setting":
            node.args, node.keywords = [], []
        return self.generic_visit(node)
