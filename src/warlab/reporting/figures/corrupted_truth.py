"""A training tile: image, original ground truth, and the ground truth after noise on its objects."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from warlab.data.formats.flat_tiles import unflat
from warlab.reporting import style
from warlab.reporting.figures.base import Inputs, NothingToDraw, mark_stand_in, with_stand_in
from warlab.reporting.images.label_maps import coloured
from warlab.reporting.read.artefacts import DataMeta, Noise
from warlab.reporting.tables import labels

TITLE = "A training map before and after the noise"
SECTION = "maps"
NEEDS = ("tiles", "noise")


def draw(inputs: Inputs) -> Figure:
    entry = _shown(inputs)
    arrays, meta = inputs.tiles[entry["dataset"]]
    wrong = unflat(entry["labels"] != arrays["train_y"], arrays["train_sizes"])
    tile = int(np.argmax([one.sum() for one in wrong]))  # the one that changed most
    image, truth, noisy = (
        unflat(values, arrays["train_sizes"])[tile]
        for values in (arrays["train_x"], arrays["train_y"], entry["labels"])
    )
    changed = 100 * float((truth != noisy).mean())
    noise = labels.name(inputs.labels, "noise", entry["noise"])
    pictures = {
        f"training tile {meta['train_tiles'][tile]}": infrared(image),
        "original ground truth": coloured(truth, meta),
        f"noise on {noise}:\n{changed:.0f} % of the pixels changed": coloured(noisy, meta),
    }
    with style.context():
        height = 0.36 * style.PAGE * image.shape[1] / image.shape[2] + 0.5
        figure = Figure(figsize=(style.PAGE, height))
        for ax, (title, picture) in zip(figure.subplots(1, 3), pictures.items(), strict=True):
            show(ax, picture, title)
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
    ax.set(title=title, xticks=[], yticks=[])
    ax.grid(False)
    ax.spines[:].set(visible=True, color="#999999", linewidth=0.4)  # white is a class, too


def legend(figure: Figure, meta: DataMeta) -> None:
    colours = np.array(meta["colours"]) / 255
    handles = [Patch(facecolor=tuple(colour), edgecolor="#777777", linewidth=0.4) for colour in colours]
    figure.legend(handles, meta["class_names"], loc="outside lower center", ncols=len(handles))


def _shown(inputs: Inputs) -> Noise:
    """The first manifest of noise on objects."""
    found = [entry for entry in inputs.noise if "objects" in entry and entry["dataset"] in inputs.tiles]
    if not found:
        raise NothingToDraw("There is no corrupted ground truth to show; declare a noise on objects of tiles.")
    return found[0]
