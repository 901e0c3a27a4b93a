"""The contract of figures: what they may read, what they return, panels, and the mark of stand-in data."""

import textwrap
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from warlab.artefacts.ground_cost import GroundCost
from warlab.artefacts.labelled_data import DataDescription, NoisyLabels, PreparedData
from warlab.common.files import read_arrays
from warlab.errors import WarlabError
from warlab.ids import RunId
from warlab.reporting import style
from warlab.reporting.figures import FIGURES
from warlab.reporting.names import Labels, display_name
from warlab.reporting.read.artefacts import PredictedMap, held_out, paths_by_role
from warlab.reporting.read.results import (
    ACCURACY,
    CELL,
    EPOCH,
    PUBLISHED,
    RUN,
    SETTING,
    Scenario,
    complete_cells,
    group_by_setting,
    read_published,
    read_runs,
)
from warlab.reporting.tables.audit_table import TABLE, read_audit

Arrays = Mapping[str, np.ndarray]
RED = "#B00020"  # marks stand-in data, and nothing else


@dataclass(frozen=True)
class Inputs:
    """What a figure can read. Its NEEDS name the fields that it reads; the other fields are empty, except the last
    three, which every figure has.

    `READERS` says how an input is read; its files are listed in the workflow.
    """

    runs: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=[*RUN, *EPOCH]))  # the tidy runs.csv
    noise: Sequence[NoisyLabels] = ()
    costs: Sequence[GroundCost] = ()
    data: Mapping[str, PreparedData] = field(default_factory=dict)  # images, by dataset
    tiles: Mapping[str, PreparedData] = field(default_factory=dict)
    maps: Sequence[PredictedMap] = ()  # of the test tiles
    published: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=PUBLISHED))  # the paper's numbers
    toy: Arrays = field(default_factory=dict)  # of `warlab.war.toy.compute`
    activations: Arrays = field(default_factory=dict)  # of a network on test images
    audit: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=TABLE))
    raw: Mapping[str, Path] = field(default_factory=dict)  # folders of the raw files of these images
    specs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # the part of a dataset that the scale uses
    sources: Mapping[str, str] = field(default_factory=dict)  # dataset → sentence: where its data come from
    held_out: Collection[str] = ()  # datasets whose test labels are as noisy as those that came with the data
    labels: Labels = field(default_factory=dict)

    @cached_property
    def looks(self) -> dict[str, style.Look]:
        return style.looks(self.runs["method"])


READERS: dict[str, Callable[[list[Path]], Any]] = {
    "runs": lambda paths: read_runs(paths[0]),
    "noise": lambda paths: [NoisyLabels.load(path) for path in paths],
    "costs": lambda paths: [GroundCost.load(path) for path in paths],
    "data": lambda paths: {path.stem: PreparedData.load(path) for path in paths},
    "tiles": lambda paths: {path.stem: PreparedData.load(path) for path in paths},
    "maps": lambda paths: [PredictedMap.load(path) for path in paths],
    "published": lambda paths: read_published(paths[0]),
    "toy": lambda paths: read_arrays(paths[0]),
    "activations": lambda paths: read_arrays(paths[0]),
    "audit": lambda paths: read_audit(paths[0]),
}
NEEDS = tuple(READERS)


def read_inputs(
    files: Mapping[str, str | Sequence[str]], labels: Labels, specs: Mapping[str, Mapping[str, Any]] | None = None
) -> Inputs:
    """Read the files of a figure's needs. `files["meta"]` are the descriptions of the datasets, `files["receipts"]` the
    receipts of the raw files of `files["data"]`, of which `specs` say what the scale uses."""
    paths = paths_by_role(files)
    needed = {kind: read(paths[kind]) for kind, read in READERS.items() if kind in paths}
    described = [DataDescription.load(path) for path in paths.get("meta", [])]
    sources = {about.dataset: about.source for about in described}
    receipts = paths.get("receipts", [])
    raw = {data.stem: receipt.parent for data, receipt in zip(paths.get("data", []), receipts, strict=bool(receipts))}
    return Inputs(**needed, raw=raw, specs=specs or {}, sources=sources, held_out=held_out(described), labels=labels)


class NothingToDraw(WarlabError):
    """The inputs hold nothing that this figure shows. That is not an error of the study."""


@dataclass(frozen=True)
class Drawing:
    """What `draw` of a figure returns. `make` marks it if some of its `datasets` are stand-ins.

    axes  the panel of each dataset, if every panel shows one
    """

    figure: Figure
    caption: str
    datasets: Collection[str] = ()
    axes: Sequence[Axes] = ()


def make(figure_name: str, inputs: Inputs) -> tuple[Figure, str]:
    """Return a figure and its caption, or, if there is nothing to draw, a note with the reason in place of both."""
    module = FIGURES.load(figure_name)
    if unknown := set(module.NEEDS) - set(NEEDS):
        raise WarlabError(f"The figure {figure_name} needs {unknown.pop()!r}; a figure can need {', '.join(NEEDS)}.")
    with style.context():
        try:
            drawing = module.draw(inputs)
        except NothingToDraw as reason:
            figure = Figure(figsize=(5.0, 0.8), layout="constrained")
            figure.text(0.5, 0.35, str(reason), ha="center", va="center", fontsize=8)
            drawing = Drawing(figure, str(reason), stand_in_datasets(inputs))
        sentence = mark_stand_ins(drawing, inputs)
    return drawing.figure, f"{drawing.caption} {sentence[0].upper()}{sentence[1:]}." if sentence else drawing.caption


def mark_stand_ins(drawing: Drawing, inputs: Inputs) -> str:
    """Say which data are stand-ins: above the panels if all of them show such data, or else above those that do.
    Return the sentence, "" if all data are real."""
    stand_ins, sources = set(stand_in_datasets(inputs)), []
    for dataset in sorted(stand_ins & set(drawing.datasets)):
        source = (inputs.sources.get(dataset) or "procedural images, not the real dataset").rstrip(".")
        printed = display_name(inputs.labels, "dataset", dataset)
        sources.append(source if printed in source else f"{printed}: {source}")
    sentence = f"stand-in data: {'; '.join(sources)}" if sources else ""
    if drawing.axes and not set(drawing.datasets) <= stand_ins:
        for ax, dataset in zip(drawing.axes, drawing.datasets, strict=True):
            if dataset in stand_ins:
                ax.set_title(f"{ax.get_title()}\nstand-in data", color=RED)
    elif sentence:
        characters = int(drawing.figure.get_figwidth() * 15)  # at 8 points about 15 bold characters take an inch
        drawing.figure.suptitle(textwrap.fill(sentence, characters), color=RED, fontsize=8, fontweight="bold")
    return sentence


def stand_in_datasets(inputs: Inputs) -> list[str]:
    """Return the datasets for which some input was made from stand-in data."""
    described: list[Any] = [noise.manifest for noise in inputs.noise] + [cost.provenance for cost in inputs.costs]
    described += [prepared.about for prepared in (*inputs.data.values(), *inputs.tiles.values())]
    datasets = {entry.dataset for entry in described if entry.data == "stand-in"}
    for table in (inputs.runs, inputs.audit):
        datasets.update(table.loc[table["data"] == "stand-in", "dataset"])
    if inputs.activations and str(inputs.activations["data"]) == "stand-in":
        datasets.add(RunId.parse(str(inputs.activations["run"])).dataset)
    return sorted(datasets)


def complete_runs(inputs: Inputs, column: str = ACCURACY, otherwise: str = "") -> pd.DataFrame:
    """Return the cells in which no run is missing and `column` was measured; `otherwise` is said if there is none."""
    runs = complete_cells(inputs.runs)
    measured = runs[column].notna() if column in runs else pd.Series(False, runs.index)
    chosen = runs[measured.groupby([runs[key] for key in CELL]).transform("any").astype(bool)]
    if chosen.empty:
        raise NothingToDraw(otherwise or "No cell of this scale has all of its runs; there is nothing to draw.")
    return chosen


def mention_held_out(inputs: Inputs, datasets: Collection[str]) -> str:
    """Return a sentence if the accuracy of some datasets is not measured on clean labels, or else ""."""
    printed = [display_name(inputs.labels, "dataset", dataset) for dataset in inputs.held_out if dataset in datasets]
    words = ": the test samples are held out from the given ones, and their labels are as given, right or wrong."
    return f" {', '.join(printed)}{words}" if printed else ""


def draw_panels(
    table: pd.DataFrame,
    inputs: Inputs,
    caption: str,
    draw: Callable[[Axes, pd.DataFrame, Scenario], None],
    height: float,
    y_label: str = "",
    most: int = style.MAX_COLUMNS,
) -> Drawing:
    """Draw a panel of `height` inches per setting; its title names the network if there are several."""
    groups = group_by_setting(table)
    if not groups:
        raise NothingToDraw("No run has what this figure shows; train one.")
    kinds = SETTING if table["net"].nunique() > 1 else SETTING[:2]
    figure = Figure()
    rows = style.panels(figure, len(groups), most)
    figure.set_size_inches(style.COLUMN + 1.2 if len(groups) == 1 else style.PAGE, height * len(rows))
    axes = [ax for row in rows for ax in row]
    for ax, (setting, rows_of_setting) in zip(axes, groups, strict=True):
        draw(ax, rows_of_setting, setting)
        ax.set_title(textwrap.fill(setting.display_name(inputs.labels, kinds), int(16 * style.inches(ax)[0])))
    for row in rows:
        row[0].set_ylabel(y_label)
    return Drawing(figure, caption, [setting.dataset for setting, _ in groups], axes)
