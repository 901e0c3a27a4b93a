"""Figures by name: a figure is a file of this folder with TITLE, SECTION, NEEDS and draw.

What the workflow must know of a figure is read from its syntax tree: the Snakefile must not import matplotlib.
"""

import csv
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from warlab import data
from warlab.ids import base_method
from warlab.registry import Registry

Cell = tuple[str, str, str, str]  # dataset, noise, network, method

FIGURES = Registry("warlab.reporting.figures", "figure")
names, get = FIGURES.names, FIGURES.load


class Declaration(NamedTuple):
    """What the file of a figure says before it is imported."""

    title: str
    section: str  # of the report
    needs: tuple[str, ...]  # fields of `Inputs` in base.py
    asks: Mapping[str, Any]  # what a study must have, see `why_not`


def declaration(name: str) -> Declaration:
    """Return what a figure says of itself, without importing it."""
    literals = FIGURES.literals(name)
    return Declaration(literals["TITLE"], literals["SECTION"], tuple(literals["NEEDS"]), literals.get("ASKS", {}))


@dataclass(frozen=True)
class Design:
    """What a study has of the things that figures ask for."""

    experiments: Collection[str]
    cells: Collection[Cell]  # of all tables and trainings, each once
    published: Collection[Cell] = ()  # the cells for which the paper has a test accuracy
    absent: Mapping[str, str] = field(default_factory=dict)  # an input that the study does not have → why
    columns: Collection[str] | None = None  # of given runs; None: our own runs have all


def published_cells(path: Path) -> set[Cell]:
    """Return the cells for which the paper prints a test accuracy."""
    with path.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["metric"] == "test_accuracy"]
    return {(row["dataset"], row["noise"], row["net"], row["method"]) for row in rows}


def why_not(name: str, design: Design) -> str | None:
    """Return why a figure cannot be drawn for a study, as the end of a sentence, or None if it can.

    A figure's ASKS may name an experiment, a dataset, methods (any of them), `adversarial` (AR, TV or any WAR),
    `together` (the number of methods in one setting), `published`, `wrong_labels` (a noise other than clean), `images`
    (a dataset of images in memory), and `column` (what the runs have measured).
    """
    figure = declaration(name)
    absent = (design.absent[kind] for kind in figure.needs if kind in design.absent)
    asked = (ASKED[key](wanted, design) for key, wanted in figure.asks.items())
    return next(absent, None) or next((reason for met, reason in asked if not met), None)


# Whether a study has what a figure asks for, and the reason to give if it does not.
ASKED: dict[str, Callable[[Any, Design], tuple[object, str]]] = {
    "experiment": lambda name, design: (name in design.experiments, f"the scale has no experiment {name}"),
    "dataset": lambda name, design: (name in {cell[0] for cell in design.cells}, f"no run is of {name}"),
    "methods": lambda names, design: (
        {base_method(cell[3]) for cell in design.cells} & set(names),
        f"no run is of {', '.join(names[:-1])} or {names[-1]}",
    ),
    "adversarial": lambda _, design: (
        any(base in ("ar", "tv") or base.startswith("war") for base in {base_method(cell[3]) for cell in design.cells}),
        "no run is of AR, TV or WAR",
    ),
    "together": lambda count, design: (  # in one setting, whichever tables show them
        max(Counter(cell[:3] for cell in design.cells).values(), default=0) >= count,
        f"no setting has {count} methods",
    ),
    "published": lambda _, design: (
        set(design.cells) & set(design.published),
        "the paper has no number for any of its runs",
    ),
    "images": lambda _, design: (
        "images" in {data.get(cell[0]).samples for cell in design.cells},
        "no dataset has images in memory",
    ),
    "wrong_labels": lambda _, design: (any(cell[1] != "clean" for cell in design.cells), "all labels are clean"),
    "column": lambda name, design: (
        design.columns is None or name in design.columns,
        f"the given runs were kept without their {name}",
    ),
}
