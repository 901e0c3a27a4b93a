"""Which figures there are and what they read, from their syntax trees: the Snakefile must not import matplotlib."""

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warlab.ids import base_method
from warlab.registry import Registry

Cell = tuple[str, str, str, str]  # dataset, noise, network, method

FIGURES = Registry("warlab.reporting.figures", "figure")
figure_names = FIGURES.names


def figure_needs(name: str) -> tuple[str, ...]:
    """The figure's NEEDS: any of those in figures/base.py."""
    return tuple(FIGURES.literals(name)["NEEDS"])


def figure_title(name: str) -> str:
    """Its name in words."""
    return str(FIGURES.literals(name)["TITLE"])


def figure_section(name: str) -> str:
    """The section of the report that shows it."""
    return str(FIGURES.literals(name)["SECTION"])


@dataclass(frozen=True)
class Design:
    """What a study has that figures may ask for.

    experiments  the cells of every table; runs: all cells that are trained
    published    the cells of which the paper has a test accuracy
    absent       what of figures/base.py's NEEDS is not there, with the reason
    timed        whether the runs come with the seconds that they took
    """

    experiments: Mapping[str, Sequence[Cell]]
    runs: Sequence[Cell] = ()
    published: frozenset[Cell] = frozenset()
    absent: Mapping[str, str] = field(default_factory=dict)
    timed: bool = True

    @property
    def cells(self) -> set[Cell]:
        return {*self.runs, *(cell for cells in self.experiments.values() for cell in cells)}


def published_cells(path: Path) -> frozenset[Cell]:
    """Of which the paper prints a test accuracy."""
    with path.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["metric"] == "test_accuracy"]
    return frozenset((row["dataset"], row["noise"], row["net"], row["method"]) for row in rows)


def why_not(name: str, design: Design) -> str | None:
    """Why a figure cannot be made of a study, as the end of a sentence; None where it can.

    A figure's ASKS may name an experiment, a dataset, methods (any of them), `together` (so many methods in one
    setting), `ranked` (so many methods of an experiment that all run in several settings), `published` and `timed`.
    """
    for kind in figure_needs(name):
        if kind in design.absent:
            return design.absent[kind]
    asked = (ASKED[key](wanted, design) for key, wanted in FIGURES.literals(name).get("ASKS", {}).items())
    return next((reason for reason in asked if reason), None)


def _experiment(wanted: str, design: Design) -> str | None:
    return None if wanted in design.experiments else f"the scale has no experiment {wanted}"


def _dataset(wanted: str, design: Design) -> str | None:
    return None if any(cell[0] == wanted for cell in design.cells) else f"no run is of {wanted}"


def _methods(wanted: Sequence[str], design: Design) -> str | None:
    there = {base_method(cell[3]) for cell in design.cells}
    return None if there & set(wanted) else f"no run is of {', '.join(wanted[:-1])} or {wanted[-1]}"


def _together(wanted: int, design: Design) -> str | None:
    """In one setting, whichever tables show them."""
    if any(len(methods) >= wanted for methods in _by_setting(design.cells).values()):
        return None
    return f"no setting has {wanted} methods"


def _ranked(wanted: Sequence[int], design: Design) -> str | None:
    """An average rank is one over several settings: of a single one it would only repeat the table."""
    methods, settings = wanted
    for cells in design.experiments.values():
        there = {cell[3] for cell in cells}
        if len(there) >= methods and list(_by_setting(cells).values()).count(there) >= settings:
            return None
    return f"average ranks need {methods} methods that all run in {settings} settings, and no experiment has them"


def _published(_wanted: bool, design: Design) -> str | None:
    return None if design.cells & design.published else "the paper has no number for any of its runs"


def _timed(_wanted: bool, design: Design) -> str | None:
    return None if design.timed else "the given runs were kept without their times"


ASKED: dict[str, Callable[[Any, Design], str | None]] = {
    "experiment": _experiment,
    "dataset": _dataset,
    "methods": _methods,
    "together": _together,
    "ranked": _ranked,
    "published": _published,
    "timed": _timed,
}


def _by_setting(cells: Sequence[Cell] | set[Cell]) -> dict[tuple[str, ...], set[str]]:
    found: dict[tuple[str, ...], set[str]] = {}
    for *setting, method in cells:
        found.setdefault(tuple(setting), set()).add(method)
    return found
