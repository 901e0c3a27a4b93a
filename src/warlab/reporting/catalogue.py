"""Which figures there are and what they read, from their syntax trees: the Snakefile must not import matplotlib."""

import ast
from collections.abc import Iterable
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "figures"
SHARED = {"__init__", "base", "style"}


def figure_names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in SHARED)


def figure_needs(name: str) -> tuple[str, ...]:
    """The figure's NEEDS: any of those in figures/base.py."""
    found = _constant(name, "NEEDS")
    if found is None:
        raise ValueError(f"figures/{name}.py has no NEEDS")
    return found


def shown(name: str, experiments: Iterable[str], datasets: Iterable[str], methods: Iterable[str]) -> bool:
    """Whether a scale has what the figure ASKS for: an experiment, a dataset, one of several methods."""
    asks = _constant(name, "ASKS") or {}
    wanted = {one for key in ("experiment", "dataset") for one in [asks.get(key)] if one}
    some = set(asks.get("methods", ()))
    return wanted <= {*experiments, *datasets} and (not some or bool(some & set(methods)))


def _constant(name: str, constant: str) -> Any:
    for node in ast.parse((FOLDER / f"{name}.py").read_text()).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == constant:
            return ast.literal_eval(node.value)
        if isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == constant and node.value:
            return ast.literal_eval(node.value)
    return None
