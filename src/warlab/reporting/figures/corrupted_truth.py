"""A training tile: image, original ground truth, and the ground truth after noise on its objects."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from warlab.artefacts.labelled_data import DataDescription, NoisyLabels, ObjectCounts
from warlab.data.formats.flat_tiles import unflat
from warlab.reporting import names, style
from warlab.reporting.figures.base import Drawing, Inputs, NothingToDraw
from warlab.reporting.images.label_maps import colour_labels

TITLE = "A training map before and after the noise"
SECTION = "maps"
NEEDS = ("tiles", "noise")


def draw(inputs: Inputs) -> Drawing:
    noisy, objects = _choose_noise(inputs)
    prepared = inputs.tiles[noisy.manifest.dataset]
    arrays, about = prepared.arrays, prepared.about
    wrong = unflat(noisy.labels != arrays["train_y"], arrays["train_sizes"])
    tile = int(np.argmax([one.sum() for one in wrong]))  # the one that changed most
    image, truth, corrupted = (
        unflat(values, arrays["train_sizes"])[tile] for values in (arrays["train_x"], arrays["train_y"], noisy.labels)
    )
    changed = 100 * float((truth != corrupted).mean())
    noise = names.display_name(inputs.labels, "noise", noisy.manifest.noise)
    pictures = {
        f"training tile {about.train_tiles[tile]}": infrared_image(image),
        "original ground truth": colour_labels(truth, about),
        f"noise on {noise}:\n{changed:.0f} % of the pixels changed": colour_labels(corrupted, about),
    }
    height = 0.36 * style.PAGE * image.shape[1] / image.shape[2] + 0.5
    figure = Figure(figsize=(style.PAGE, height))
    for ax, (title, picture) in zip(figure.subplots(1, 3), pictures.items(), strict=True):
        show_picture(ax, picture, title)
    draw_legend(figure, about)
    caption = (
        f"Ground truth of a training tile before and after noise on its objects. In all training tiles together, "
        f"{objects.changed} of {objects.objects} objects ({100 * objects.realised_share:.1f} %) and "
        f"{100 * noisy.manifest.realised_rate:.1f} % of the pixels have another class. The figure shows the tile that "
        "changed most."
    )
    return Drawing(figure, caption, [about.dataset])


def infrared_image(image: np.ndarray) -> np.ndarray:
    """Return the first three channels (near infrared, red, green) as (H, W, 3), or only the first one in grey."""
    return np.moveaxis(image[:3] if len(image) >= 3 else image[:1].repeat(3, 0), 0, 2)


def show_picture(ax: Axes, picture: np.ndarray, title: str) -> None:
    ax.imshow(picture, interpolation="nearest")
    ax.set(title=title, xticks=[], yticks=[])
    ax.grid(False)
    ax.spines[:].set(visible=True, color="#999999", linewidth=0.4)  # white is also a class


def draw_legend(figure: Figure, about: DataDescription) -> None:
    colours = np.array(about.colours) / 255
    handles = [Patch(facecolor=tuple(colour), edgecolor="#777777", linewidth=0.4) for colour in colours]
    figure.legend(handles, about.class_names, loc="outside lower center", ncols=len(handles))


def _choose_noise(inputs: Inputs) -> tuple[NoisyLabels, ObjectCounts]:
    """Return the first labels with noise on objects, and how many objects it changed."""
    for entry in inputs.noise:
        if entry.manifest.objects and entry.manifest.dataset in inputs.tiles:
            return entry, entry.manifest.objects
    raise NothingToDraw("There is no corrupted ground truth to show; declare a noise on objects of tiles.")
