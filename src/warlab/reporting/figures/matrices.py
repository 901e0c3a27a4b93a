"""Ground costs and label-noise transitions as labelled heat maps."""

import re
import textwrap
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from warlab.reporting import style
from warlab.reporting.figures.base import Inputs, NothingToDraw, mark_panels, note, with_stand_in
from warlab.reporting.tables import labels

TITLE = "Ground costs and label noise"
SECTION = "data"
NEEDS = ("costs", "noise")
PANEL_INCHES = 3.6
WITH_VALUES = 10  # classes; more numbers than that cannot be read in a panel
WITH_NAMES = 30
TITLE_CHARACTERS = 48
NOTHING = "No method of this scale has a ground cost, and no noise has a known transition"


Entry = Mapping[str, Any]


class Panel(NamedTuple):
    dataset: str
    title: str
    matrix: np.ndarray
    class_names: list[str]
    x_label: str
    y_label: str
    colours: str
    low: float  # where the colours begin at the latest; NaN: at the smallest value


def draw(inputs: Inputs) -> Figure:
    panels = _panels(inputs)
    if not panels:
        return note(NOTHING, inputs)
    columns = min(len(panels), 2 if len(panels) <= 4 else 3)
    rows = -(-len(panels) // columns)
    with style.context():
        size = (PANEL_INCHES * columns, (PANEL_INCHES + 0.1) * rows + 0.2)
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False).ravel()
        for ax, panel in zip(axes, panels, strict=False):
            _heat_map(figure, ax, panel)
        for ax in axes[len(panels) :]:
            ax.remove()
        mark_panels(figure, inputs, [(ax, panel.dataset) for ax, panel in zip(axes, panels, strict=False)])
    return figure


def caption(inputs: Inputs) -> str:
    sentences = []
    if inputs.costs:
        sentences.append("Ground costs between classes: similar classes cost much, the diagonal nothing.")
    if inputs.noise:
        sentences.append(
            "Transition matrices of the label noise: probability of the given label (column) for a true class (row)."
        )
    if _orders(inputs.costs):
        sentences.append("Classes are ordered so that similar ones stand beside each other.")
    shown = len(_first_seeds(inputs.costs, _cost_id)) + len(_first_seeds(inputs.noise, _noise_id))
    if shown < len(inputs.costs) + len(inputs.noise):
        sentences.append("Of several seeds the first is shown.")
    return with_stand_in(" ".join(sentences), inputs)


def _panels(inputs: Inputs) -> list[Panel]:
    orders = _orders(inputs.costs)
    inputs = replace(
        inputs,
        costs=[_ordered(cost, "matrix", orders) for cost in inputs.costs],
        noise=[_ordered(entry, "transition", orders) for entry in inputs.noise],
    )
    panels = [_cost_panel(cost, inputs) for cost in _first_seeds(inputs.costs, _cost_id)]
    # The transition of clean labels is the identity, and that of open-set noise too: a panel without a message.
    # That of labels as they came with the data is not known.
    silent = ("open_set", "estimated")
    noisy = [e for e in inputs.noise if e["noise"] != "clean" and not any(word in e for word in silent)]
    panels += [_noise_panel(entry, inputs) for entry in _first_seeds(noisy, _noise_id)]
    if not inputs.costs and not inputs.noise:
        raise NothingToDraw("The figure of matrices needs a ground cost or a noise; declare one of them.")
    return panels


def _orders(costs: Iterable[Entry]) -> dict[str, np.ndarray]:
    """Dataset → an order of its classes in which similar ones stand beside each other: blocks become visible.

    By the first cost that tells classes apart; leaves of average linkage, turned for the shortest way through them.
    """
    found: dict[str, np.ndarray] = {}
    for cost in costs:
        matrix = np.asarray(cost["matrix"], float)
        away = ~np.eye(len(matrix), dtype=bool)
        if cost["dataset"] in found or len(matrix) < 3 or np.ptp(matrix[away]) == 0:
            continue
        distance = np.where(away, matrix[away].max() - (matrix + matrix.T) / 2, 0.0)
        condensed = squareform(distance - min(0.0, distance.min()) * away, checks=False)
        found[cost["dataset"]] = leaves_list(linkage(condensed, "average", optimal_ordering=True))
    return found


def _ordered(entry: Entry, key: str, orders: Mapping[str, np.ndarray]) -> Entry:
    order = orders.get(entry["dataset"])
    if order is None or len(order) != len(entry["class_names"]):
        return entry
    names = [entry["class_names"][k] for k in order]
    return {**entry, key: np.asarray(entry[key], float)[np.ix_(order, order)], "class_names": names}


def _first_seeds(entries: Iterable[Entry], identify: Callable[[Entry], Hashable]) -> list[Entry]:
    """The entries without those that differ from an earlier one by their seed only."""
    firsts: dict[Hashable, Entry] = {}
    for entry in entries:
        firsts.setdefault(identify(entry), entry)
    return list(firsts.values())


def _cost_id(cost: Entry) -> Hashable:
    """Random costs that differ by their own seed (random.7) are of one kind, too."""
    return cost["dataset"], re.sub(r"(@seed|\.)\d+$", "", cost["key"])


def _noise_id(entry: Entry) -> Hashable:
    return entry["dataset"], entry["noise"]


def _cost_panel(cost: Entry, inputs: Inputs) -> Panel:
    kind, *noise = re.sub(r"@seed\d+$", "", cost["key"]).split("@")
    words = [labels.name(inputs.labels, "cost", kind)]
    words += [labels.name(inputs.labels, "noise", identifier) for identifier in noise]
    matrix = np.asarray(cost["matrix"], float)
    # The diagonal is zero by definition: left white, it does not flatten the colours of the rest.
    matrix = np.where(np.eye(len(matrix), dtype=bool), np.nan, matrix)
    constant = np.nanmin(matrix) == np.nanmax(matrix)
    title = _title(cost, inputs, f"ground cost: {', '.join(words)}")
    return Panel(
        cost["dataset"], title, matrix, list(cost["class_names"]), "", "", "cividis", 0.0 if constant else np.nan
    )


def _noise_panel(entry: Entry, inputs: Inputs) -> Panel:
    noise = labels.name(inputs.labels, "noise", entry["noise"])
    title = _title(entry, inputs, f"{noise}, {100 * entry['realised_rate']:.1f} % of all labels changed")
    matrix = np.asarray(entry["transition"], float)
    return Panel(entry["dataset"], title, matrix, list(entry["class_names"]), "given label", "true class", "Blues", 0.0)


def _title(entry: Entry, inputs: Inputs, text: str) -> str:
    dataset = labels.name(inputs.labels, "dataset", entry["dataset"])
    return "\n".join([dataset, *textwrap.wrap(text, TITLE_CHARACTERS)])


def _heat_map(figure: Figure, ax: Axes, panel: Panel) -> None:
    image = ax.imshow(panel.matrix, cmap=panel.colours, vmin=np.nanmin([panel.low, np.nanmin(panel.matrix)]))
    ax.set_title(panel.title)
    ax.set_xlabel(panel.x_label)
    ax.set_ylabel(panel.y_label)
    ax.grid(False)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    _name_classes(ax, panel.class_names)
    if len(panel.class_names) <= WITH_VALUES:
        _print_values(ax, panel.matrix, image)
    bar = figure.colorbar(image, cax=ax.inset_axes((1.03, 0, 0.04, 1)))
    bar.outline.set_visible(False)


def _name_classes(ax: Axes, class_names: list[str]) -> None:
    count = len(class_names)
    class_names = [labels.plot_text(name) for name in class_names]
    if count > WITH_NAMES:
        ticks = range(0, count, 10)
        ax.set_xticks(ticks)
        ax.set_yticks(ticks)
        return
    size = 6 if count > WITH_VALUES else 7
    ax.set_xticks(range(count), class_names, rotation=45, ha="right", rotation_mode="anchor", fontsize=size)
    ax.set_yticks(range(count), class_names, fontsize=size)


def _print_values(ax: Axes, matrix: np.ndarray, image: Any) -> None:
    for row, column in np.argwhere(np.nan_to_num(matrix) != 0):
        value = matrix[row, column]
        red, green, blue, _ = image.cmap(image.norm(value))
        dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5  # luminance of ITU-R BT.601
        text = f"{value:.2f}".removeprefix("0") if 0 <= value < 0.995 else f"{value:.2g}"
        ax.text(column, row, text, ha="center", va="center", fontsize=5.5, color="white" if dark else "black")
