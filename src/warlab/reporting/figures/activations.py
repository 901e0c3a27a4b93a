"""t-SNE of a trained network's activations on test images, with arrows between classes that the noise confuses."""

import numpy as np
from matplotlib.figure import Figure
from sklearn.manifold import TSNE

from warlab.errors import WarlabError
from warlab.ids import RunId
from warlab.reporting import names, style
from warlab.reporting.figures.base import Drawing, Inputs
from warlab.reporting.read.results import Scenario

TITLE = "Where the classes lie in a trained network"
SECTION = "data"
NEEDS = ("activations", "noise")
ASKS = {"dataset": "fashion_mnist"}
MOST_POINTS = 1000
COLOURS = [style.BLUE, style.ORANGE, style.GREEN, style.VERMILION, style.PURPLE, style.SKY, style.YELLOW, style.BLACK]
COLOURS += ["#999999", "#8C510A"]  # grey and brown, as ten classes need more than the colours of Okabe and Ito


def draw(inputs: Inputs) -> Drawing:
    arrays = inputs.activations
    if not arrays:
        raise WarlabError("This figure needs a network that was trained on Fashion-MNIST; train one first.")
    count = len(arrays["features"])
    chosen = np.linspace(0, count - 1, min(MOST_POINTS, count)).astype(int)
    features, classes, run = arrays["features"][chosen], arrays["labels"][chosen], RunId.parse(str(arrays["run"]))
    perplexity = min(30, (len(features) - 1) / 3)
    place = TSNE(perplexity=perplexity, random_state=0, init="pca").fit_transform(features.astype(np.float64))
    class_names = [str(name) for name in arrays["class_names"]]
    middles = np.array([np.median(place[classes == k], axis=0) for k in range(len(class_names))])
    manifests = [entry.manifest for entry in inputs.noise if entry.manifest.dataset == run.dataset]
    asymmetric = [manifest.transition for manifest in manifests if manifest.noise.startswith("asym")]
    arrow = {"arrowstyle": "-|>", "color": style.BLACK, "linewidth": 0.9, "shrinkA": 7, "shrinkB": 7}
    box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
    figure = Figure(figsize=(style.COLUMN + 1.0, 3.7))
    ax = figure.subplots()
    for number in range(len(class_names)):
        x, y = place[classes == number].T
        ax.scatter(x, y, s=3, color=COLOURS[number % 10], linewidths=0, alpha=0.8)
    for true, given in (pair for matrix in asymmetric[:1] for pair in np.argwhere(np.array(matrix) > 0)):
        if true != given:
            ax.annotate("", middles[given], middles[true], arrowprops=arrow)
    for name, (x, y) in zip(class_names, middles, strict=True):
        ax.text(x, y, name, fontsize=6, ha="center", va="center", bbox=box)
    ax.set(xticks=[], yticks=[])
    ax.grid(False)
    trained = Scenario(run.dataset, run.noise, run.net).display_name(inputs.labels, ("dataset", "noise"))
    caption = (
        f"t-SNE (scikit-learn, perplexity 30) of the activations before the classifier on {len(features)} test images, "
        f"for a network trained with {names.display_name(inputs.labels, 'method', run.method)} on {trained}. "
        "Arrows go from a class to the wrong label that the noise gives it."
    )
    return Drawing(figure, caption, [run.dataset])
