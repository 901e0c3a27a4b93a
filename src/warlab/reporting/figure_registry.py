"""Which figures there are and what they read, from their syntax trees: the Snakefile must not import matplotlib."""

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
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
    """What a study has that figures may ask for."""

    experiments: Mapping[str, Sequence[Cell]]  # the cells of every table
    runs: Sequence[Cell] = ()  # all cells that are trained
    published: frozenset[Cell] = frozenset()  # the cells of which the paper has a test accuracy
    absent: Mapping[str, str] = field(default_factory=dict)  # what of figures/base.py's NEEDS is not there → why
    timed: bool = True  # whether the runs come with the seconds that they took

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
    return next((reason for met, reason in asked if not met), None)


def _ranked(wanted: Sequence[int], design: Design) -> tuple[bool, str]:
    """An average rank is one over several settings: of a single one it would only repeat the table."""
    methods, settings = wanted
    ran = [({cell[3] for cell in cells}, list(_by_setting(cells).values())) for cells in design.experiments.values()]
    met = any(len(there) >= methods and found.count(there) >= settings for there, found in ran)
    return met, f"no experiment has {methods} methods that all run in {settings} settings, to average their ranks"


# Whether a study has what a figure asks for, and what to say if it does not.
ASKED: dict[str, Callable[[Any, Design], tuple[object, str]]] = {
    "experiment": lambda name, design: (name in design.experiments, f"the scale has no experiment {name}"),
    "dataset": lambda name, design: (name in {cell[0] for cell in design.cells}, f"no run is of {name}"),
    "methods": lambda names, design: (
        {base_method(cell[3]) for cell in design.cells} & set(names),
        f"no run is of {', '.join(names[:-1])} or {names[-1]}",
    ),
    "together": lambda count, design: (  # in one setting, whichever tables show them
        any(len(methods) >= count for methods in _by_setting(design.cells).values()),
        f"no setting has {count} methods",
    ),
    "ranked": _ranked,
    "published": lambda _, design: (design.cells & design.published, "the paper has no number for any of its runs"),
    "timed": lambda _, design: (design.timed, "the given runs were kept without their times"),
}


def _by_setting(cells: Iterable[Cell]) -> dict[tuple[str, ...], set[str]]:
    found: dict[tuple[str, ...], set[str]] = {}
    for *setting, method in cells:
        found.setdefault(tuple(setting), set()).add(method)
    return found
