"""What a figure may read, and how every figure says that its data are a stand-in."""

import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from warlab.common.files import read_arrays, read_json
from warlab.errors import WarlabError
from warlab.ids import RunId
from warlab.reporting import style
from warlab.reporting.drawing import MAX_COLUMNS, inches, panel_rows, panels
from warlab.reporting.read.artefacts import (
    Arrays,
    Cost,
    Data,
    Noise,
    PredictedMap,
    read_costs,
    read_data,
    read_maps,
    read_noise,
)
from warlab.reporting.read.results import read_published, read_runs
from warlab.reporting.setting import SETTING, Setting, by_setting
from warlab.reporting.stats.audit_scores import read_audit
from warlab.reporting.stats.statistic import read_statistics
from warlab.reporting.tables.labels import Labels, name

RED = "#B00020"  # says that data are a stand-in, and nothing else


Read = Callable[[list[Path]], Any]


def _first(read: Callable[[Path], Any]) -> Mapping[str, Read]:
    """An input of one file."""
    return {"read": lambda paths: read(paths[0])}


@dataclass(frozen=True)
class Inputs:
    """A figure names in its NEEDS those that it reads; `sources`, `labels` and `aliases` are always there.

    An input is declared once, here, with how it is read; its files are named where the workflow lists them.
    """

    runs: pd.DataFrame | None = field(default=None, metadata=_first(read_runs))  # the tidy runs.csv
    noise: Sequence[Noise] = field(default=(), metadata={"read": read_noise})
    costs: Sequence[Cost] = field(default=(), metadata={"read": read_costs})
    data: Data = field(default_factory=dict, metadata={"read": read_data})  # images
    tiles: Data = field(default_factory=dict, metadata={"read": read_data})
    maps: Sequence[PredictedMap] = field(default=(), metadata={"read": read_maps})  # of the test tiles
    published: pd.DataFrame | None = field(default=None, metadata=_first(read_published))  # the paper's numbers
    statistics: pd.DataFrame | None = field(default=None, metadata=_first(read_statistics))
    toy: Arrays = field(default_factory=dict, metadata=_first(read_arrays))  # of `warlab.losses.toy.compute`
    activations: Arrays = field(default_factory=dict, metadata=_first(read_arrays))  # of a network on test images
    audit: pd.DataFrame | None = field(default=None, metadata=_first(read_audit))
    sources: Mapping[str, str] = field(default_factory=dict)  # dataset → sentence: where its data come from
    labels: Labels = field(default_factory=dict)
    aliases: Sequence[Sequence[str]] = ()  # runs that have another name in a table


NEEDS = tuple(entry.name for entry in fields(Inputs) if "read" in entry.metadata)


def read_inputs(files: Mapping[str, str | Sequence[str]], labels: Labels, aliases: Sequence[Sequence[str]]) -> Inputs:
    """`files` has the paths of a figure's needs, and those of the datasets' descriptions as `meta`."""
    paths = {kind: [Path(p) for p in ([given] if isinstance(given, str) else given)] for kind, given in files.items()}
    read = {e.name: e.metadata["read"](paths[e.name]) for e in fields(Inputs) if e.name in NEEDS and e.name in paths}
    sources = {meta["dataset"]: meta["source"] for meta in map(read_json, paths.get("meta", []))}
    return Inputs(**read, sources=sources, labels=labels, aliases=aliases)


class NothingToDraw(WarlabError):
    """The inputs hold nothing that this figure shows. That is not an error of the study."""


def stand_in_datasets(inputs: Inputs) -> list[str]:
    """The datasets of which any input was made from stand-in data."""
    found = [entry["dataset"] for entry in (*inputs.noise, *inputs.costs) if entry.get("data") == "stand-in"]
    metas = [(dataset, meta) for dataset, (_, meta) in (*inputs.data.items(), *inputs.tiles.items())]
    found += [dataset for dataset, meta in metas if meta.get("data") == "stand-in"]
    for table in (inputs.runs, inputs.audit):
        if table is not None:
            found += table.loc[table["data"] == "stand-in", "dataset"].tolist()
    if inputs.statistics is not None:
        marked = inputs.statistics[(inputs.statistics["data"] == "stand-in") & (inputs.statistics["test"] == "kendall")]
        found += [Setting.parse(subject).dataset for subject in marked["subject"]]
    if inputs.activations and str(inputs.activations["data"]) == "stand-in":
        found.append(RunId.parse(str(inputs.activations["run"])).dataset)
    return sorted(set(found))


def toy_of(inputs: Inputs) -> dict[str, np.ndarray]:
    if not inputs.toy:
        raise WarlabError("The figures of the plane need the trained toy networks; make toy.npz first.")
    return dict(inputs.toy)


def stand_in_sentence(inputs: Inputs, shown: Collection[str] | None = None) -> str:
    """Which datasets are not the real ones and what they are instead; nothing where all is real.

    `shown` are the datasets in the figure, where these are not all of its inputs.
    """
    found = [dataset for dataset in stand_in_datasets(inputs) if shown is None or dataset in shown]
    sources = [_source(inputs, dataset) for dataset in found]
    return f"stand-in data: {'; '.join(sources)}" if sources else ""


def with_stand_in(caption: str, inputs: Inputs, shown: Collection[str] | None = None) -> str:
    sentence = stand_in_sentence(inputs, shown)
    return f"{caption} {sentence[0].upper()}{sentence[1:]}." if sentence else caption


def mark_stand_in(figure: Figure, inputs: Inputs, shown: Collection[str] | None = None) -> None:
    """Print the sentence above the panels, broken to the figure's width."""
    sentence = stand_in_sentence(inputs, shown)
    if sentence:
        characters = int(figure.get_figwidth() * 15)  # at 8 points about 15 bold characters take an inch
        text = "\n".join(textwrap.wrap(sentence, characters))
        figure.suptitle(text, color=RED, fontsize=8, fontweight="bold")


def mark_panels(figure: Figure, inputs: Inputs, shown: Iterable[tuple[Axes, str]]) -> None:
    """As `mark_stand_in` where every panel (axes, dataset) is of stand-in data; else those panels alone say so."""
    pairs, found = list(shown), stand_in_datasets(inputs)
    marked = [ax for ax, dataset in pairs if dataset in found]
    if len(marked) == len(pairs):
        mark_stand_in(figure, inputs, {dataset for _, dataset in pairs})
        return
    for ax in marked:
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
    width = style.COLUMN + 1.2 if len(groups) == 1 else style.PAGE
    with style.context():
        figure = Figure(figsize=(width, height * len(panel_rows(len(groups), most))), layout="constrained")
        axes = panels(figure, len(groups), most)
        shown = [ax for row in axes for ax in row]
        for ax, (setting, rows) in zip(shown, groups, strict=True):
            draw(ax, rows, setting)
            ax.set_title(textwrap.fill(setting.called(inputs.labels, kinds), int(16 * inches(ax)[0])))
        for row in axes:
            row[0].set_ylabel(y_label)
        mark_panels(figure, inputs, [(ax, setting.dataset) for ax, (setting, _) in zip(shown, groups, strict=True)])
    return figure


def note(text: str, inputs: Inputs) -> Figure:
    """A figure that says why there is nothing to see."""
    figure = Figure(figsize=(5.0, 0.8), layout="constrained")
    figure.text(0.5, 0.35, text, ha="center", va="center", fontsize=8)
    mark_stand_in(figure, inputs)
    return figure


def _source(inputs: Inputs, dataset: str) -> str:
    metas = [data[dataset][1] for data in (inputs.data, inputs.tiles) if dataset in data]
    known = [inputs.sources.get(dataset), *(meta.get("source") for meta in metas)]
    source = next((text for text in known if text), "procedural images, not the real dataset")
    shown, sentence = name(inputs.labels, "dataset", dataset), str(source).rstrip(".")
    return sentence if shown in sentence else f"{shown}: {sentence}"
