"""Ground costs and label-noise transitions as labelled heat maps."""

import re
import textwrap
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from warlab.artefacts.ground_cost import GroundCost
from warlab.artefacts.labelled_data import NoiseManifest
from warlab.ids import CostId
from warlab.reporting import names
from warlab.reporting.figures.base import Drawing, Inputs, NothingToDraw

TITLE = "Ground costs and label noise"
SECTION = "data"
NEEDS = ("costs", "noise")
PANEL_INCHES = 3.6
WITH_VALUES = 10  # classes; more numbers do not fit into a panel
WITH_NAMES = 30
TITLE_CHARACTERS = 48


class Panel(NamedTuple):
    kind: tuple[str | None, ...]  # the dataset first; the same for every seed
    title: str
    matrix: np.ndarray
    class_names: list[str]
    colours: str
    low: float  # the colours begin at this value or lower; NaN: at the smallest entry
    x_label: str = ""
    y_label: str = ""


def draw(inputs: Inputs) -> Drawing:
    panels, orders = _make_panels(inputs), _order_classes(inputs.costs)
    kinds = [panel.kind for panel in panels]
    shown = [_reorder(panel, orders) for k, panel in enumerate(panels) if panel.kind not in kinds[:k]]
    columns = min(len(shown), 2 if len(shown) <= 4 else 3)
    rows = -(-len(shown) // columns)
    figure = Figure(figsize=(PANEL_INCHES * columns, (PANEL_INCHES + 0.1) * rows + 0.2))
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for ax in axes[len(shown) :]:
        ax.remove()
    for ax, panel in zip(axes, shown, strict=False):
        _draw_heat_map(ax, panel)
    sentences = {
        "Ground costs between classes: the more similar two classes are, the higher their cost.": inputs.costs,
        "Transition matrices of the label noise: probability of the given label (column) for a true class (row).": (
            inputs.noise
        ),
        "Classes are ordered so that similar ones are neighbours.": orders,
        "If there are several seeds, the first one is shown.": len(shown) < len(panels),
    }
    caption = " ".join(sentence for sentence, holds in sentences.items() if holds)
    return Drawing(figure, caption, [str(panel.kind[0]) for panel in shown], list(axes[: len(shown)]))


def _make_panels(inputs: Inputs) -> list[Panel]:
    # The transition matrix of clean labels and of open-set noise is the identity, which shows nothing. For labels that
    # came with the data it is not known.
    manifests = [entry.manifest for entry in inputs.noise if entry.manifest.noise != "clean"]
    known = [manifest for manifest in manifests if not (manifest.open_set or manifest.estimated)]
    panels = [_cost_panel(cost, inputs) for cost in inputs.costs] + [_noise_panel(entry, inputs) for entry in known]
    if not panels:
        raise NothingToDraw("No method of this scale has a ground cost, and no noise has a known transition matrix.")
    return panels


def _order_classes(costs: Iterable[GroundCost]) -> dict[str, np.ndarray]:
    """Return for each dataset an order of its classes in which similar ones are neighbours, so that blocks are visible.

    It is the optimal order of the leaves of average linkage, for the first cost that is not the same for all pairs.
    """
    orders: dict[str, np.ndarray] = {}
    for cost in costs:
        matrix, dataset = cost.matrix, cost.provenance.dataset
        away = ~np.eye(len(matrix), dtype=bool)
        if dataset in orders or len(matrix) < 3 or np.ptp(matrix[away]) == 0:
            continue
        distance = np.where(away, matrix[away].max() - (matrix + matrix.T) / 2, 0.0)
        condensed = squareform(distance - min(0.0, distance.min()) * away, checks=False)
        orders[dataset] = leaves_list(linkage(condensed, "average", optimal_ordering=True))
    return orders


def _reorder(panel: Panel, orders: Mapping[str, np.ndarray]) -> Panel:
    order = orders.get(str(panel.kind[0]), ())
    if len(order) != len(panel.class_names):
        return panel
    class_names = [panel.class_names[k] for k in order]
    return panel._replace(matrix=panel.matrix[np.ix_(order, order)], class_names=class_names)


def _cost_panel(cost: GroundCost, inputs: Inputs) -> Panel:
    dataset, parsed = cost.provenance.dataset, CostId.parse(cost.provenance.key)
    # Random costs that differ only by their seed (random.7) are also of one kind.
    kind = (dataset, re.sub(r"\.\d+$", "", parsed.name), parsed.noise)
    words = [names.display_name(inputs.labels, "cost", parsed.name)]
    words += [names.display_name(inputs.labels, "noise", parsed.noise)] if parsed.noise else []
    title = _title(dataset, inputs, f"ground cost: {', '.join(words)}")
    # The diagonal is zero by definition. It is left white so that the colours cover the range of the other entries.
    matrix = np.where(np.eye(len(cost.matrix), dtype=bool), np.nan, cost.matrix)
    low = 0.0 if np.nanmin(matrix) == np.nanmax(matrix) else np.nan
    return Panel(kind, title, matrix, cost.provenance.class_names, "cividis", low)


def _noise_panel(manifest: NoiseManifest, inputs: Inputs) -> Panel:
    kind = dataset, noise = manifest.dataset, manifest.noise
    changed = f"{100 * manifest.realised_rate:.1f} % of all labels changed"
    title = _title(dataset, inputs, f"{names.display_name(inputs.labels, 'noise', noise)}, {changed}")
    matrix = np.asarray(manifest.transition, float)
    return Panel(kind, title, matrix, manifest.class_names, "Blues", 0.0, "given label", "true class")


def _title(dataset: str, inputs: Inputs, text: str) -> str:
    return "\n".join([names.display_name(inputs.labels, "dataset", dataset), *textwrap.wrap(text, TITLE_CHARACTERS)])


def _draw_heat_map(ax: Axes, panel: Panel) -> None:
    image = ax.imshow(panel.matrix, cmap=panel.colours, vmin=np.nanmin([panel.low, np.nanmin(panel.matrix)]))
    ax.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)
    ax.grid(False)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    count, ticks = len(panel.class_names), [names.plot_text(name) for name in panel.class_names]
    if count > WITH_NAMES:
        ax.set(xticks=range(0, count, 10), yticks=range(0, count, 10))
    else:
        size = 6 if count > WITH_VALUES else 7
        ax.set_xticks(range(count), ticks, rotation=45, ha="right", rotation_mode="anchor", fontsize=size)
        ax.set_yticks(range(count), ticks, fontsize=size)
    if count <= WITH_VALUES:
        _print_values(ax, panel.matrix, image)
    bar = ax.figure.colorbar(image, cax=ax.inset_axes((1.03, 0, 0.04, 1)))
    bar.outline.set_visible(False)


def _print_values(ax: Axes, matrix: np.ndarray, image: AxesImage) -> None:
    for row, column in np.argwhere(np.nan_to_num(matrix) != 0):
        value = matrix[row, column]
        red, green, blue, _ = image.cmap(image.norm(value))
        dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5  # luminance of ITU-R BT.601
        text = f"{value:.2f}".removeprefix("0") if 0 <= value < 0.995 else f"{value:.2g}"
        ax.text(column, row, text, ha="center", va="center", fontsize=5.5, color="white" if dark else "black")
