"""t-SNE of a trained network's activations on test images, the pairs of classes that the noise confuses joined."""

import numpy as np
from matplotlib.figure import Figure
from sklearn.manifold import TSNE

from warlab.errors import WarlabError
from warlab.ids import RunId
from warlab.reporting import style
from warlab.reporting.figures.base import Inputs, mark_stand_in, with_stand_in
from warlab.reporting.setting import Setting
from warlab.reporting.tables import labels

TITLE = "Where the classes lie in a trained network"
SECTION = "data"
NEEDS = ("activations", "noise")
ASKS = {"dataset": "fashion_mnist"}
MOST_POINTS = 1000
# Ten classes in eight colours of Okabe and Ito: the last two in grey and brown.
COLOURS = (style.BLUE, style.ORANGE, style.GREEN, style.VERMILION, style.PURPLE, style.SKY, style.YELLOW, style.BLACK)
MORE = ("#999999", "#8C510A")


def draw(inputs: Inputs) -> Figure:
    seen = _seen(inputs)
    place = _embedded(seen["features"])
    names = [str(name) for name in seen["class_names"]]
    middles = np.array([np.median(place[seen["labels"] == k], axis=0) for k in range(len(names))])
    with style.context():
        figure = Figure(figsize=(style.COLUMN + 1.0, 3.7), layout="constrained")
        ax = figure.subplots()
        for number in range(len(names)):
            colour = (COLOURS + MORE)[number % 10]
            x, y = place[seen["labels"] == number].T
            ax.scatter(x, y, s=3, color=colour, linewidths=0, alpha=0.8)
        for true, given in _flips(inputs, seen):
            style_of = {"arrowstyle": "-|>", "color": style.BLACK, "linewidth": 0.9, "shrinkA": 7, "shrinkB": 7}
            ax.annotate("", middles[given], middles[true], arrowprops=style_of)
        box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
        for name, middle in zip(names, middles, strict=True):
            ax.text(middle[0], middle[1], name, fontsize=6, ha="center", va="center", bbox=box)
        ax.set_xticks([])
        ax.set_yticks([])
        ax.grid(False)
        mark_stand_in(figure, inputs, [_run(seen).dataset])
    return figure


def caption(inputs: Inputs) -> str:
    seen = _seen(inputs)
    run = _run(seen)
    called = Setting(run.dataset, run.noise, run.net).called(inputs.labels, ("dataset", "noise"))
    text = (
        f"t-SNE (scikit-learn, perplexity 30) of the activations before the classifier of "
        f"{labels.name(inputs.labels, 'method', run.method)} trained on {called}, on "
        f"{len(_chosen(seen['features']))} test images. Arrows: the classes that the label noise turns into each other."
    )
    return with_stand_in(text, inputs, [run.dataset])


def _run(seen: dict[str, np.ndarray]) -> RunId:
    return RunId.parse(str(seen["run"]))


def _seen(inputs: Inputs) -> dict[str, np.ndarray]:
    if not inputs.activations:
        raise WarlabError("The figure of activations needs a trained network of Fashion-MNIST; train one first.")
    seen = dict(inputs.activations)
    chosen = _chosen(seen["features"])
    return seen | {"features": seen["features"][chosen], "labels": seen["labels"][chosen]}


def _chosen(features: np.ndarray) -> np.ndarray:
    return np.linspace(0, len(features) - 1, min(MOST_POINTS, len(features))).astype(int)


def _embedded(features: np.ndarray) -> np.ndarray:
    perplexity = min(30, (len(features) - 1) / 3)
    return TSNE(perplexity=perplexity, random_state=0, init="pca").fit_transform(features.astype(np.float64))


def _flips(inputs: Inputs, seen: dict[str, np.ndarray]) -> list[tuple[int, int]]:
    """Of the first asymmetric noise of the dataset."""
    for manifest in inputs.noise:
        if manifest["dataset"] == _run(seen).dataset and manifest["noise"].startswith("asym"):
            matrix = np.asarray(manifest["transition"], float)
            return [(int(i), int(j)) for i, j in np.argwhere(matrix > 0) if i != j]
    return []
