"""docs/architecture.md says what each package of src/warlab may import; the import statements are compared with it."""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import ROOT

PACKAGE = ROOT / "src" / "warlab"
PAGE = (ROOT / "docs" / "architecture.md").read_text()


@dataclass(frozen=True)
class Row:
    """A row of the table in the page, named after its first package."""

    name: str
    members: frozenset[str]
    imports: frozenset[str]
    packages: frozenset[str]


def table() -> list[Row]:
    lines = PAGE[PAGE.index("| package |") :].split("\n\n")[0].splitlines()[2:]
    parts = ([re.findall(r"`(\w+)`", cell) for cell in line.split("|")[1:5]] for line in lines)
    return [Row(members[0], *map(frozenset, (members, imports, packages))) for members, _, imports, packages in parts]


ROWS = {member: row for row in table() for member in row.members}
NOBODY = Row("no row", frozenset(), frozenset(), frozenset())


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def package_of(module: str) -> str:
    """`engine` of warlab.engine.train, `war` of warlab.war."""
    return module.split(".")[1] if "." in module else "__init__"


def row_of(module: str) -> Row:
    return ROWS.get(package_of(module), NOBODY)


def imported(node: ast.AST) -> Iterator[str]:
    """The modules that a statement names; `from warlab import data` names warlab.data."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0 and node.module is not None, "imports are absolute here"
        inner = [f"{node.module}.{alias.name}" for alias in node.names]
        yield from [name for name in inner if name in MODULES] or [node.module]


@cache
def imports_of(module: str) -> set[str]:
    return {name for node in ast.walk(ast.parse(MODULES[module].read_text())) for name in imported(node)}


def wrong_imports(module: str) -> set[str]:
    """Rows of the table, by their first package, and packages that are imported though the module's row has neither."""
    row, names = row_of(module), imports_of(module)
    inside = {row_of(name).name for name in names if name.split(".")[0] == "warlab"} - {row.name}
    outside = {name.split(".")[0] for name in names} - set(sys.stdlib_module_names) - {"warlab"}
    return (inside - row.imports) | (outside - row.packages)


def test_every_package_has_a_row_and_every_row_names_packages() -> None:
    assert {package_of(module) for module in MODULES} == set(ROWS), (
        "the table of docs/architecture.md and src/warlab differ"
    )


@pytest.mark.parametrize("name", sorted({row.name for row in ROWS.values()}))
def test_a_package_imports_only_what_its_row_names(name: str) -> None:
    found = {module: wrong for module in MODULES if row_of(module).name == name if (wrong := wrong_imports(module))}
    assert not found, "docs/architecture.md does not allow this"


# ---- the layers of reporting


def layers() -> dict[str, tuple[int, set[str]]]:
    """Return the place of each part of reporting, from the bottom up, and what it may import of the others."""
    lines = PAGE[PAGE.index("| part of `reporting` |") :].split("\n\n")[0].splitlines()[2:]
    cells = [[re.findall(r"`(\w+)`", cell) for cell in line.split("|")[1:4]] for line in lines]
    return {part: (place, set(imports)) for place, (parts, _, imports) in enumerate(cells) for part in parts}


def part_of(module: str) -> str:
    """`stats` of warlab.reporting.stats, `__init__` of warlab.reporting."""
    return module.split(".")[2] if module.count(".") > 1 else "__init__"


def test_reporting_has_layers_that_import_only_what_is_below_them() -> None:
    table = layers()
    modules = [module for module in MODULES if package_of(module) == "reporting"]
    assert {part_of(module) for module in modules} == set(table)
    for part, (place, imports) in table.items():
        assert all(table[other][0] < place for other in imports), f"{part} imports a layer above it"
    for module in modules:
        names = [name for name in imports_of(module) if name in MODULES and package_of(name) == "reporting"]
        wrong = {part_of(name) for name in names} - table[part_of(module)][1] - {part_of(module)}
        assert not wrong, f"docs/architecture.md does not allow {module} to import {wrong}"


def test_reporting_computes_statistics_in_one_module() -> None:
    modules = [module for module in MODULES if package_of(module) == "reporting"]
    using = re.compile(r"scipy\.stats|from scipy import .*\bstats\b")
    assert [module for module in modules if using.search(MODULES[module].read_text())] == ["warlab.reporting.stats"]


# ---- what is loaded at once, on the way through all modules


def at_once(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that run when a module is imported: not those of functions, nor those for type checkers."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
            continue
        yield statement
        for part in ("body", "orelse", "finalbody"):
            yield from at_once(getattr(statement, part, []))


@cache
def loads(module: str) -> frozenset[str]:
    """Modules of warlab and other packages that importing this one loads first."""
    found = {name for node in at_once(ast.parse(MODULES[module].read_text()).body) for name in imported(node)}
    parents = {name.rsplit(".", depth)[0] for name in found if name in MODULES for depth in range(1, name.count("."))}
    return frozenset(found | (parents & set(MODULES)))


def reached(module: str) -> set[str]:
    seen, waiting = {module}, [module]
    while waiting:
        for name in loads(waiting.pop()) - seen:
            seen.add(name)
            if name in MODULES:
                waiting.append(name)
    return seen


def of(name: str) -> list[str]:
    return [module for module in MODULES if package_of(module) == name]


@pytest.mark.parametrize("name", ["reporting", "config", "noise"])
def test_no_torch_is_loaded(name: str) -> None:
    for module in of(name):
        found = [other for other in reached(module) if other.split(".")[0] in ("torch", "torchvision")]
        assert not found, module


@pytest.mark.parametrize("name", ["reporting", "config", "noise", "methods", "nets"])
def test_the_engine_is_not_loaded(name: str) -> None:
    for module in of(name):
        assert not [other for other in reached(module) if other.startswith("warlab.engine")], module


def test_the_package_itself_loads_next_to_nothing() -> None:
    assert {name.split(".")[0] for name in reached("warlab")} <= {"warlab", *sys.stdlib_module_names}


def test_the_rules_can_be_broken() -> None:
    """The engine does load torch and methods, so the rules above look at something."""
    assert {"torch", "warlab.methods.base"} <= reached("warlab.engine.train")
