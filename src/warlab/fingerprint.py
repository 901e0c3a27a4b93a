"""Which code does a result depend on? A hash of the syntax trees of modules and of all warlab modules they import.

Snakemake's own `code` trigger reruns every training after a changed comment and none after a changed loss. This
hash, given to a rule as a parameter, changes with what the code does and with nothing else.
"""

import ast
import hashlib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent

# What these do (messages, locks, saving, look-up by name) cannot change a number; editing them reruns nothing.
INERT = {
    "warlab",
    "warlab.errors",
    "warlab.script",
    "warlab.methods",
    "warlab.nets",
    "warlab.engine",
    "warlab.engine.checkpoint",
    "warlab.engine.lease",
    "warlab.engine.lock",
    "warlab.engine.progress",
    "warlab.engine.provenance",
}


def fingerprint(script: Path, *modules: str) -> str:
    """Hash of a script, of these modules ("warlab.war"), and of every warlab module that they import in turn."""
    own, todo = _parse(script, script.stat().st_mtime_ns)
    queue, seen = [*todo, *modules], set()
    while queue:
        module = queue.pop()
        if module not in seen:
            seen.add(module)
            queue += _tree(module)[1]
    trees = [f"{name} {_tree(name)[0]}" for name in sorted(seen - INERT)]
    return hashlib.sha256("\n".join([own, *trees]).encode()).hexdigest()[:16]


def _tree(module: str) -> tuple[str, tuple[str, ...]]:
    file = _file(module)
    return _parse(file, file.stat().st_mtime_ns)


def _file(module: str) -> Path:
    path = ROOT.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def _parse(file: Path, _mtime: int) -> tuple[str, tuple[str, ...]]:
    tree = _without_docstrings(ast.parse(file.read_text()))
    found = [name for node in ast.walk(tree) for name in _imported(node)]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest(), tuple(found)


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return tree


def _imported(node: ast.AST) -> list[str]:
    """warlab modules that an import statement names; `from warlab import nets` names warlab.nets."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.module:
        names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    else:
        return []
    return [name for name in names if name.startswith("warlab.") and _file(name).exists()]
