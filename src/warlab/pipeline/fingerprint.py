"""Which code does a result depend on? A hash of the syntax trees of modules and of all warlab modules they import.

Comments, docstrings, log lines and the words of errors do not count, nor do modules that only read, write or lock. A
module or script that reads files of the package, such as templates or word vectors, names them in `ASSETS`, a tuple of
patterns relative to src/warlab; their content counts, too.

Snakemake's own `code` trigger reruns every training after a changed comment and none after a changed loss. This
hash, given to a rule as a parameter, changes with what the code does and with nothing else.
"""

import ast
import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from warlab.common.files import file_digest
from warlab.pipeline.tree_store import Found, store

ROOT = Path(__file__).parents[1]

# How these read, write, lock, log and look up by name decides no number. What they import counts all the same.
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
    "warlab.engine.lease",
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
    own = _parse(script, script.stat().st_mtime_ns)
    queue, seen = [*own.imports, *modules], set()
    while queue:
        module = queue.pop()
        if module not in seen:
            seen.add(module)
            queue += _module(module).imports
    trees = [f"{name} {_content(_module(name))}" for name in sorted(seen - INERT)]
    return hashlib.sha256("\n".join([_content(own), *trees]).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class _Parsed:
    tree: str
    imports: tuple[str, ...]
    assets: tuple[str, ...]


def _content(parsed: _Parsed) -> str:
    files = sorted(path for pattern in parsed.assets for path in ROOT.glob(pattern))
    return " ".join([parsed.tree, *(f"{path.name} {_asset(path, path.stat().st_mtime_ns)}" for path in files)])


@cache
def _asset(path: Path, _mtime: int) -> str:
    return file_digest(path)


def _module(name: str) -> _Parsed:
    file = _file(name)
    return _parse(file, file.stat().st_mtime_ns)


def _file(module: str) -> Path:
    return _file_in(ROOT, module)


@cache
def _file_in(root: Path, module: str) -> Path:
    path = root.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def _parse(file: Path, _mtime: int) -> _Parsed:
    digest, trees = file_digest(file), store(Path(__file__))
    if digest not in trees.known:
        trees.add(digest, _read(file.read_text()))
    found = trees.known[digest]
    imports = tuple(name for name in found["imports"] if _file(name).exists())
    return _Parsed(found["tree"][0], imports, tuple(found["assets"]))


def _read(source: str) -> Found:
    tree = _without_settings(_WithoutWords().visit(ast.parse(source)))
    names = [name for node in ast.walk(tree) for name in _imported(node)]
    digest = hashlib.sha256(ast.dump(tree).encode()).hexdigest()
    return {"tree": [digest], "imports": names, "assets": list(assets(tree))}


def assets(tree: ast.Module) -> tuple[str, ...]:
    """The patterns of `ASSETS = ("assets/…", …)` in a module."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(getattr(target, "id", "") == "ASSETS" for target in node.targets):
            return tuple(ast.literal_eval(node.value))
    return ()


class _WithoutWords(ast.NodeTransformer):
    """Takes out what people read: docstrings, log lines and the texts of WarlabError."""

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


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _without_settings(tree: ast.Module) -> ast.Module:
    """`setting(0.1, "paper", minimum=0)` without its arguments: the values that a run has are in the rule's parameters,
    and where they come from and what they may be train nothing."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setting":
            node.args, node.keywords = [], []
    return tree


def _imported(node: ast.AST) -> list[str]:
    """Names of warlab in an import statement; `from warlab import nets` names warlab.nets, a module or not."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.module:
        names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    else:
        return []
    return [name for name in names if name.startswith("warlab.")]
