"""Figures, each a module of this folder with TITLE, SECTION, NEEDS, draw and caption; found by the module's name."""

import importlib
import pkgutil

from matplotlib.figure import Figure

from warlab.errors import WarlabError
from warlab.reporting.figures.base import NEEDS, FigureSpec, Inputs, NothingToDraw, note

__all__ = ["FigureSpec", "Inputs", "get", "make", "names"]

_NOT_FIGURES = {"base", "drawing", "style"}


def names() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if module.name not in _NOT_FIGURES)


def get(name: str) -> FigureSpec:
    if name not in names():
        raise WarlabError(f"There is no figure {name!r}; choose from {', '.join(names())}.")
    module = importlib.import_module(f"{__name__}.{name}")
    unknown = set(module.NEEDS) - set(NEEDS)
    if unknown:
        raise WarlabError(f"The figure {name} needs {unknown.pop()!r}; a figure can need {', '.join(NEEDS)}.")
    return FigureSpec(name, module.TITLE, module.SECTION, module.NEEDS, module.draw, module.caption)


def make(name: str, inputs: Inputs) -> tuple[Figure, str]:
    """A figure and its caption; where there is nothing to draw, a note that says so in place of both."""
    figure = get(name)
    try:
        return figure.draw(inputs), figure.caption(inputs)
    except NothingToDraw as reason:
        return note(str(reason), inputs), str(reason)
