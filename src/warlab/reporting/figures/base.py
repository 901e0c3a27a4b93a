"""What a figure may read, panels of it, and how every figure says that its data are a stand-in."""

import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from warlab.common.files import read_arrays, read_json
from warlab.errors import WarlabError
from warlab.ids import RunId
from warlab.reporting import style
from warlab.reporting.drawing import MAX_COLUMNS, inches, panels
from warlab.reporting.read import artefacts
from warlab.reporting.read.artefacts import Arrays, Cost, Data, Noise, PredictedMap
from warlab.reporting.read.csv_rows import read_table
from warlab.reporting.read.results import (
    EPOCH,
    PUBLISHED,
    RUN,
    SETTING,
    Setting,
    by_setting,
    complete,
    read_published,
    read_runs,
)
from warlab.reporting.stats.audit_scores import TABLE, read_audit
from warlab.reporting.stats.over_settings import Statistic
from warlab.reporting.tables.labels import Labels, name

RED = "#B00020"  # says that data are a stand-in, and nothing else


def _first(read: Callable[[Path], Any]) -> dict[str, Callable[[list[Path]], Any]]:
    """An input of one file."""
    return {"read": lambda paths: read(paths[0])}


def _empty(columns: Iterable[str]) -> Callable[[], pd.DataFrame]:
    return partial(pd.DataFrame, columns=list(columns))


@dataclass(frozen=True)
class Inputs:
    """A figure names in its NEEDS those that it reads, the others are empty. The last three are always there.

    An input is declared once, here, with how it is read; its files are named where the workflow lists them.
    """

    # the tidy runs.csv
    runs: pd.DataFrame = field(default_factory=_empty(RUN + EPOCH), metadata=_first(read_runs))
    noise: Sequence[Noise] = field(default=(), metadata={"read": artefacts.read_noise})
    costs: Sequence[Cost] = field(default=(), metadata={"read": artefacts.read_costs})
    data: Data = field(default_factory=dict, metadata={"read": artefacts.read_data})  # images
    tiles: Data = field(default_factory=dict, metadata={"read": artefacts.read_data})
    maps: Sequence[PredictedMap] = field(default=(), metadata={"read": artefacts.read_maps})  # of the test tiles
    # the paper's numbers
    published: pd.DataFrame = field(default_factory=_empty(PUBLISHED), metadata=_first(read_published))
    statistics: pd.DataFrame = field(
        default_factory=_empty(Statistic._fields), metadata=_first(partial(read_table, kind=Statistic))
    )
    toy: Arrays = field(default_factory=dict, metadata=_first(read_arrays))  # of `warlab.war.toy.compute`
    activations: Arrays = field(default_factory=dict, metadata=_first(read_arrays))  # of a network on test images
    audit: pd.DataFrame = field(default_factory=_empty(TABLE), metadata=_first(read_audit))
    sources: Mapping[str, str] = field(default_factory=dict)  # dataset → sentence: where its data come from
    labels: Labels = field(default_factory=dict)
    aliases: Sequence[Sequence[str]] = ()  # runs that have another name in a table


READ = {entry.name: entry.metadata["read"] for entry in fields(Inputs) if entry.metadata}
NEEDS = tuple(READ)


def read_inputs(files: Mapping[str, str | Sequence[str]], labels: Labels, aliases: Sequence[Sequence[str]]) -> Inputs:
    """`files` has the paths of a figure's needs, and those of the datasets' descriptions as `meta`."""
    paths = {kind: [Path(p) for p in ([given] if isinstance(given, str) else given)] for kind, given in files.items()}
    needed = {kind: read(paths[kind]) for kind, read in READ.items() if kind in paths}
    sources = {meta["dataset"]: meta["source"] for meta in map(read_json, paths.get("meta", []))}
    return Inputs(**needed, sources=sources, labels=labels, aliases=aliases)


class NothingToDraw(WarlabError):
    """The inputs hold nothing that this figure shows. That is not an error of the study."""


def complete_runs(inputs: Inputs) -> pd.DataFrame:
    """The runs of the cells in which none is missing."""
    runs = complete(inputs.runs)
    if runs.empty:
        raise NothingToDraw("No cell of this scale has all of its runs; there is nothing to draw.")
    return runs


def stand_in_datasets(inputs: Inputs) -> list[str]:
    """The datasets of which any input was made from stand-in data."""
    metas = [meta for _, meta in (*inputs.data.values(), *inputs.tiles.values())]
    found = {entry["dataset"] for entry in (*inputs.noise, *inputs.costs, *metas) if entry.get("data") == "stand-in"}
    for table in (inputs.runs, inputs.audit):
        found.update(table.loc[table["data"] == "stand-in", "dataset"])
    statistics = inputs.statistics
    marked = statistics[(statistics["data"] == "stand-in") & (statistics["test"] == "kendall")]
    found.update(Setting.parse(subject).dataset for subject in marked["subject"])
    if inputs.activations and str(inputs.activations["data"]) == "stand-in":
        found.add(RunId.parse(str(inputs.activations["run"])).dataset)
    return sorted(found)


def stand_in_sentence(inputs: Inputs, shown: Collection[str] | None = None) -> str:
    """Which datasets are not the real ones and what they are instead; nothing where all is real.

    `shown` are the datasets in the figure, where these are not all of its inputs.
    """
    sources = []
    for dataset in stand_in_datasets(inputs):
        if shown is None or dataset in shown:
            source = (inputs.sources.get(dataset) or "procedural images, not the real dataset").rstrip(".")
            called = name(inputs.labels, "dataset", dataset)
            sources.append(source if called in source else f"{called}: {source}")
    return f"stand-in data: {'; '.join(sources)}" if sources else ""


def with_stand_in(caption: str, inputs: Inputs, shown: Collection[str] | None = None) -> str:
    sentence = stand_in_sentence(inputs, shown)
    return f"{caption} {sentence[0].upper()}{sentence[1:]}." if sentence else caption


def mark_stand_in(figure: Figure, inputs: Inputs, shown: Collection[str] | None = None) -> None:
    """Print the sentence above the panels, broken to the figure's width."""
    if sentence := stand_in_sentence(inputs, shown):
        characters = int(figure.get_figwidth() * 15)  # at 8 points about 15 bold characters take an inch
        figure.suptitle(textwrap.fill(sentence, characters), color=RED, fontsize=8, fontweight="bold")


def mark_panels(figure: Figure, inputs: Inputs, axes: Iterable[Axes], datasets: Sequence[str]) -> None:
    """As `mark_stand_in` where the dataset of every panel is a stand-in; else those panels alone say so."""
    found = stand_in_datasets(inputs)
    if set(datasets) <= set(found):
        mark_stand_in(figure, inputs, datasets)
        return
    for ax, dataset in zip(axes, datasets, strict=True):
        if dataset in found:
            ax.set_title(f"{ax.get_title()}\nstand-in data", color=RED)


def in_panels(
    table: pd.DataFrame,
    inputs: Inputs,
    draw: Callable[[Axes, pd.DataFrame, Setting], None],
    height: float,
    y_label: str = "",
    most: int = MAX_COLUMNS,
) -> Figure:
    """A panel per setting of the table, `height` inches each; its network is named where there are several."""
    groups = by_setting(table)
    kinds = SETTING if table["net"].nunique() > 1 else SETTING[:2]
    with style.context():
        figure = Figure()
        rows = panels(figure, len(groups), most)
        figure.set_size_inches(style.COLUMN + 1.2 if len(groups) == 1 else style.PAGE, height * len(rows))
        axes = [ax for row in rows for ax in row]
        for ax, (setting, own) in zip(axes, groups, strict=True):
            draw(ax, own, setting)
            ax.set_title(textwrap.fill(setting.called(inputs.labels, kinds), int(16 * inches(ax)[0])))
        for row in rows:
            row[0].set_ylabel(y_label)
        mark_panels(figure, inputs, axes, [setting.dataset for setting, _ in groups])
    return figure


def note(text: str, inputs: Inputs) -> Figure:
    """A figure that says why there is nothing to see."""
    figure = Figure(figsize=(5.0, 0.8), layout="constrained")
    figure.text(0.5, 0.35, text, ha="center", va="center", fontsize=8)
    mark_stand_in(figure, inputs)
    return figure
