"""AR and WAR in the plane: the direction in which each pushes a point, and the boundaries before and after training."""

import numpy as np
from matplotlib.figure import Figure

from warlab.reporting import style
from warlab.reporting.figures.base import Drawing, Inputs
from warlab.reporting.figures.simplex import COLOURS, draw_points, draw_regions, legend_handles, require_toy

TITLE = "AR versus WAR"
SECTION = "adversarial"
NEEDS = ("toy",)
ASKS = {"adversarial": True}
ARROWS = 90  # more would hide the boundaries
CAPTION = (
    "Both start from the same small network after a warm-up with cross entropy alone. Left of each pair: the decision "
    "regions after the warm-up, and the direction in which AR (Kullback-Leibler) or WAR (λ = 0.05) pushes each point, "
    "drawn to scale. Right of each pair: the regions after further training with AR or WAR; outlined points have a "
    "wrong label. WAR's ground cost is smallest between red and black. All panels are computed, not sketched."
)


def draw(inputs: Inputs) -> Drawing:
    toy = require_toy(inputs)
    chosen = np.linspace(0, len(toy["x"]) - 1, min(ARROWS, len(toy["x"]))).astype(int)
    figure = Figure(figsize=(style.PAGE, 2.9))
    axes = figure.subplots(1, 4).reshape(2, 2)
    for row, name in enumerate(toy["pair"]):
        before, after = axes[row]
        draw_regions(before, toy, toy["before"])
        x, r = toy["x"][chosen], toy["directions"][row][chosen]
        colours = [COLOURS[label] for label in toy["given"][chosen]]
        before.quiver(*x.T, *r.T, color=colours, angles="xy", scale_units="xy", scale=1, width=0.006)
        before.set_title(f"{name}: direction of each point\nafter the warm-up")
        draw_regions(after, toy, toy["after"][row])
        draw_points(after, toy, 5)
        after.set_title(f"{name}: boundaries\nafter training with it")
    figure.legend(handles=legend_handles(toy), loc="outside lower center", ncols=4)
    return Drawing(figure, CAPTION)
