"""What a figure may read, and how every figure says that its data are a stand-in."""

import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from warlab.errors import WarlabError
from warlab.reporting.tables.labels import Labels, name

RED = "#B00020"  # says that data are a stand-in, and nothing else
NEEDS = ("runs", "noise", "costs", "data", "tiles", "maps", "published", "statistics", "toy", "activations", "audit")


@dataclass(frozen=True)
class Inputs:
    """Give what the figure's NEEDS names; `labels` and `sources` always.

    runs     the tidy runs.csv (`results.read_runs`)
    noise    manifests, each with its `labels` array added
    costs    provenance of each ground cost, with `matrix` (C×C) and `verified` (the report) added
    data     dataset → (arrays of the npz, its JSON); those of images, or of tiles
    maps     what runs predict: dataset, noise, net, method, seed, and `labels` of all test pixels
    labels   kind → id → printed text, see `labels.py`
    sources  dataset → sentence that says where its data come from; also read from `data`

    published    the paper's numbers (`results.read_published`); aliases: `Study.aliases`
    statistics   the table of `comparison.statistics`
    toy          arrays of `warlab.losses.toy.compute`
    audit        the table of `reporting.audit.audit_table`
    activations  features, labels, class_names, run and data of a trained network on test images
    """

    runs: pd.DataFrame | None = None
    noise: Sequence[Mapping[str, Any]] = ()
    costs: Sequence[Mapping[str, Any]] = ()
    data: Mapping[str, tuple[Mapping[str, np.ndarray], Mapping[str, Any]]] = field(default_factory=dict)
    maps: Sequence[Mapping[str, Any]] = ()
    labels: Labels = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    published: pd.DataFrame | None = None
    aliases: Sequence[Sequence[str]] = ()
    statistics: pd.DataFrame | None = None
    toy: Mapping[str, np.ndarray] = field(default_factory=dict)
    activations: Mapping[str, np.ndarray] = field(default_factory=dict)
    audit: pd.DataFrame | None = None


class NothingToDraw(WarlabError):
    """The inputs are there and hold nothing that this figure shows; that is no failure of a study."""


class FigureSpec(NamedTuple):
    """One figure as its module defines it; SECTION is that of the report (`sections.SECTIONS`) which shows it."""

    name: str
    title: str
    section: str
    needs: tuple[str, ...]
    draw: Callable[[Inputs], Figure]
    caption: Callable[[Inputs], str]


def stand_in_datasets(inputs: Inputs) -> list[str]:
    """The datasets of which any input was made from stand-in data."""
    found = [entry["dataset"] for entry in (*inputs.noise, *inputs.costs) if entry.get("data") == "stand-in"]
    found += [dataset for dataset, (_, meta) in inputs.data.items() if meta.get("data") == "stand-in"]
    if inputs.runs is not None:
        found += inputs.runs.loc[inputs.runs["data"] == "stand-in", "dataset"].tolist()
    if inputs.statistics is not None:
        marked = inputs.statistics[(inputs.statistics["data"] == "stand-in") & (inputs.statistics["test"] == "kendall")]
        found += marked["subject"].str.split(" ").str[0].tolist()
    if inputs.audit is not None:
        found += inputs.audit.loc[inputs.audit["data"] == "stand-in", "dataset"].tolist()
    if inputs.activations and str(inputs.activations["data"]) == "stand-in":
        found.append(str(inputs.activations["run"]).split("/")[0])
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


def note(text: str, inputs: Inputs) -> Figure:
    """A figure that says why there is nothing to see."""
    figure = Figure(figsize=(5.0, 0.8), layout="constrained")
    figure.text(0.5, 0.35, text, ha="center", va="center", fontsize=8)
    mark_stand_in(figure, inputs)
    return figure


def _source(inputs: Inputs, dataset: str) -> str:
    meta = inputs.data[dataset][1] if dataset in inputs.data else {}
    source = inputs.sources.get(dataset) or meta.get("source") or "procedural images, not the real dataset"
    shown, sentence = name(inputs.labels, "dataset", dataset), str(source).rstrip(".")
    return sentence if shown in sentence else f"{shown}: {sentence}"
