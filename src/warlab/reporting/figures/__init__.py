"""Figures, each a module of this folder with TITLE, SECTION, NEEDS, draw and caption; found by the module's name."""

from types import ModuleType

from matplotlib.figure import Figure

from warlab.errors import WarlabError
from warlab.reporting.figure_registry import FIGURES
from warlab.reporting.figures.base import NEEDS, Inputs, NothingToDraw, note, read_inputs

__all__ = ["Inputs", "get", "make", "names", "read_inputs"]

names = FIGURES.names


def get(name: str) -> ModuleType:
    module = FIGURES.load(name)
    unknown = set(module.NEEDS) - set(NEEDS)
    if unknown:
        raise WarlabError(f"The figure {name} needs {unknown.pop()!r}; a figure can need {', '.join(NEEDS)}.")
    return module


def make(name: str, inputs: Inputs) -> tuple[Figure, str]:
    """A figure and its caption; where there is nothing to draw, a note that says so in place of both."""
    figure = get(name)
    try:
        return figure.draw(inputs), figure.caption(inputs)
    except NothingToDraw as reason:
        return note(str(reason), inputs), str(reason)
