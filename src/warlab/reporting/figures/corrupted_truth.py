"""A training tile: image, original ground truth, and the ground truth after noise on its objects."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from warlab.data.formats.tiles import unflat
from warlab.reporting import style
from warlab.reporting.figures.base import Inputs, NothingToDraw, mark_stand_in, with_stand_in
from warlab.reporting.images.label_maps import coloured
from warlab.reporting.read.artefacts import Arrays, DataMeta, Noise
from warlab.reporting.tables import labels

TITLE = "A training map before and after the noise"
SECTION = "maps"
NEEDS = ("tiles", "noise")


def draw(inputs: Inputs) -> Figure:
    entry = _shown(inputs)
    arrays, meta = inputs.tiles[entry["dataset"]]
    tile = most_changed(arrays, entry)
    image, truth, noisy = (
        unflat(values, arrays["train_sizes"])[tile]
        for values in (arrays["train_x"], arrays["train_y"], entry["labels"])
    )
    with style.context():
        figure = Figure(
            figsize=(style.PAGE, 0.36 * style.PAGE * image.shape[1] / image.shape[2] + 0.5), layout="constrained"
        )
        axes = figure.subplots(1, 3)
        changed = 100 * float((truth != noisy).mean())
        noise = labels.name(inputs.labels, "noise", entry["noise"])
        show(axes[0], infrared(image), f"training tile {meta['train_tiles'][tile]}")
        show(axes[1], coloured(truth, meta), "original ground truth")
        show(axes[2], coloured(noisy, meta), f"noise on {noise}:\n{changed:.0f} % of the pixels changed")
        legend(figure, meta)
        mark_stand_in(figure, inputs, [entry["dataset"]])
    return figure


def caption(inputs: Inputs) -> str:
    entry = _shown(inputs)
    objects = entry["objects"]
    text = (
        f"Ground truth of a training tile before and after noise on its objects. In all training tiles "
        f"{objects['changed']} of {objects['objects']} objects ({100 * objects['realised_share']:.1f} %) and "
        f"{100 * entry['realised_rate']:.1f} % of the pixels have another class. Shown: the tile that changed most."
    )
    return with_stand_in(text, inputs, [entry["dataset"]])


def infrared(image: np.ndarray) -> np.ndarray:
    """The first three channels (near infrared, red, green) as a colour picture (H, W, 3)."""
    return np.moveaxis(image[:3], 0, 2)


def show(ax: Axes, picture: np.ndarray, title: str) -> None:
    ax.imshow(picture, interpolation="nearest")
    ax.set_title(title)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.grid(False)
    ax.spines[:].set(visible=True, color="#999999", linewidth=0.4)  # white is a class, too


def legend(figure: Figure, meta: DataMeta) -> None:
    colours = np.array(meta["colours"]) / 255
    handles = [Patch(facecolor=tuple(colour), edgecolor="#777777", linewidth=0.4) for colour in colours]
    figure.legend(handles, meta["class_names"], loc="outside lower center", ncols=len(handles))


def most_changed(arrays: Arrays, entry: Noise) -> int:
    wrong = unflat(np.asarray(entry["labels"]) != arrays["train_y"], arrays["train_sizes"])
    return int(np.argmax([tile.sum() for tile in wrong]))


def _shown(inputs: Inputs) -> Noise:
    """The first manifest of noise on objects."""
    found = [entry for entry in inputs.noise if "objects" in entry and entry["dataset"] in inputs.tiles]
    if not found:
        raise NothingToDraw("There is no corrupted ground truth to show; declare a noise on objects of tiles.")
    return found[0]
