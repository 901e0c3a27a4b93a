"""Which figures there are and what they read, from their syntax trees: the Snakefile must not import matplotlib."""

import ast
from pathlib import Path

FOLDER = Path(__file__).parent / "figures"
SHARED = {"__init__", "base", "style"}


def figure_names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in SHARED)


def figure_needs(name: str) -> tuple[str, ...]:
    """The figure's NEEDS: any of runs, noise, costs, data."""
    for node in ast.parse((FOLDER / f"{name}.py").read_text()).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "NEEDS":
            return ast.literal_eval(node.value)
        if isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == "NEEDS" and node.value:
            return ast.literal_eval(node.value)
    raise ValueError(f"figures/{name}.py has no NEEDS")
