"""Figures, each a module of this folder with NEEDS, draw and caption; found by the module's name."""

import importlib
import pkgutil

from warlab.errors import WarlabError
from warlab.reporting.figures.base import NEEDS, FigureSpec, Inputs

__all__ = ["FigureSpec", "Inputs", "get", "names"]

_NOT_FIGURES = {"base", "style"}


def names() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if module.name not in _NOT_FIGURES)


def get(name: str) -> FigureSpec:
    if name not in names():
        raise WarlabError(f"There is no figure {name!r}; choose from {', '.join(names())}.")
    module = importlib.import_module(f"{__name__}.{name}")
    unknown = set(module.NEEDS) - set(NEEDS)
    if unknown:
        raise WarlabError(f"The figure {name} needs {unknown.pop()!r}; a figure can need {', '.join(NEEDS)}.")
    return FigureSpec(name, module.NEEDS, module.draw, module.caption)
