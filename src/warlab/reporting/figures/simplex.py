"""The value of each divergence on the simplex of three classes, and the decision regions that it leads to."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.tri import Triangulation

from warlab.errors import WarlabError
from warlab.reporting import style
from warlab.reporting.figures.base import Arrays, Drawing, Inputs

TITLE = "What each divergence measures, and where it leads"
SECTION = "adversarial"
NEEDS = ("toy",)
ASKS = {"adversarial": True}
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
SHADES, LEVELS = "Greys", 24  # as in the paper: white is zero, darker is larger
COLOURS = (style.ORANGE, style.CRIMSON, style.BLACK)
SHAPES = "so^"  # classes also differ in shape, for readers who cannot distinguish the colours
RING = style.BLUE
CAPTION = (
    "Top: the value of each divergence on the simplex of three classes, measured from a fixed prediction (green "
    "cross); white is zero, darker is larger. Cross entropy alone has no divergence. Bottom: decision regions of "
    "small networks that were trained with each divergence on the same points; some points in the red cloud have "
    "the label black. Left: the ground cost, which is smallest between red and black. About its own figure of this "
    "kind, the paper says that a higher cost between two classes smooths their boundary less; by its Proposition "
    "2, a higher cost penalises a change between them more. The loss here is the paper's formula, which agrees "
    "with the proposition. Values and trainings are computed; the paper gives no numbers."
)


def draw(inputs: Inputs) -> Drawing:
    toy = require_toy(inputs)
    count = len(toy["names"])
    figure = Figure(figsize=(style.PAGE, 2.9))
    axes = figure.subplots(2, count + 1, width_ratios=[1.15] + [1.0] * count)
    _draw_cost(axes[0, 0], toy)
    cross = Line2D([], [], marker="x", linestyle="", color=style.GREEN, markersize=4, label="prediction")
    key = axes[1, 0]
    key.legend(handles=[*legend_handles(toy), cross], loc="center left", fontsize=6, handletextpad=0.2, borderaxespad=0)
    key.set_axis_off()
    by_divergence = zip(*axes[:, 1:], toy["names"], toy["values"], toy["regions"], strict=True)
    for top, bottom, name, values, probabilities in by_divergence:
        _draw_values(top, toy, values)
        top.set_title(str(name), fontsize=7)
        draw_regions(bottom, toy, probabilities)
        draw_points(bottom, toy, 2.5)
    return Drawing(figure, CAPTION)


def require_toy(inputs: Inputs) -> Arrays:
    if not inputs.toy:
        raise WarlabError("This figure needs the trained networks of the toy task; make toy.npz first.")
    return inputs.toy


def _draw_cost(ax: Axes, toy: Arrays) -> None:
    cost, names = toy["cost"], [str(name) for name in toy["classes"]]
    ax.imshow(cost, cmap="Greys", vmin=0, vmax=1.6)
    for (row, column), value in np.ndenumerate(cost):
        ax.text(column, row, f"{value:g}", ha="center", va="center", fontsize=6)
    ax.set_xticks(range(3), names, rotation=45, ha="right", rotation_mode="anchor", fontsize=6)
    ax.set_yticks(range(3), names, fontsize=6)
    ax.set_title("ground cost", fontsize=7)
    ax.tick_params(length=0, pad=1)
    ax.grid(False)
    ax.spines[:].set_visible(False)


def legend_handles(toy: Arrays) -> list[Line2D]:
    """Return the entries of the legend: the classes, and the points with a wrong label."""
    classes = [
        Line2D([], [], marker=shape, linestyle="", color=colour, markersize=3.5, label=str(name))
        for colour, shape, name in zip(COLOURS, SHAPES, toy["classes"], strict=True)
    ]
    wrong = Line2D([], [], marker=SHAPES[2], linestyle="", color=style.BLACK, markersize=4.5, label="wrong label")
    wrong.set_markeredgecolor(RING)
    return [*classes, wrong]


def _draw_values(ax: Axes, toy: Arrays, values: np.ndarray) -> None:
    place = toy["simplex"] @ CORNERS
    if np.ptp(values) > 0:
        levels = np.linspace(0, values.max(), LEVELS)
        ax.tricontourf(Triangulation(place[:, 0], place[:, 1]), values, levels=levels, cmap=SHADES, vmin=0)
    else:
        ax.text(0.5, 0.3, "none", ha="center", va="center", fontsize=6)
    ax.fill(*CORNERS.T, facecolor="none", edgecolor="#999999", linewidth=0.5)  # zero is as white as the page
    x, y = toy["prediction"] @ CORNERS
    ax.plot(x, y, "x", color=style.GREEN, markersize=4)
    for corner, colour, shape in zip(CORNERS, COLOURS, SHAPES, strict=True):
        ax.plot(*corner, shape, color=colour, markersize=4, clip_on=False)
    ax.set_aspect("equal")
    ax.set_axis_off()


def draw_regions(ax: Axes, toy: Arrays, probabilities: np.ndarray) -> None:
    """Draw the class with the highest probability in a light colour, and the boundaries as lines."""
    chosen = probabilities.argmax(2)
    extent = (toy["axis_x"][0], toy["axis_x"][-1], toy["axis_y"][0], toy["axis_y"][-1])
    light = np.array([[0.99, 0.91, 0.75], [0.97, 0.78, 0.79], [0.82, 0.82, 0.82]])
    ax.imshow(light[chosen], origin="lower", extent=extent, aspect="equal")
    for number in range(len(COLOURS)):
        ax.contour(toy["axis_x"], toy["axis_y"], chosen == number, levels=[0.5], colors="#555555", linewidths=0.5)
    ax.set(xticks=[], yticks=[])
    ax.grid(False)


def draw_points(ax: Axes, toy: Arrays, size: float) -> None:
    wrong = toy["given"] != toy["true"]
    for number, (colour, shape) in enumerate(zip(COLOURS, SHAPES, strict=True)):
        plain, outlined = ((toy["given"] == number) & (wrong == flag) for flag in (False, True))
        ax.scatter(toy["x"][plain, 0], toy["x"][plain, 1], size, colour, marker=shape, linewidths=0)
        x, y = toy["x"][outlined].T
        ax.scatter(x, y, 3.5 * size, colour, marker=shape, edgecolors=RING, linewidths=0.9, zorder=3)
