"""A test tile: image, ground truth and the map of each method, and below them a close-up of the outlined area."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from scipy import ndimage

from warlab.data.formats.flat_tiles import unflat
from warlab.ids import ColumnId
from warlab.reporting import names, style
from warlab.reporting.figures.base import Drawing, Inputs, NothingToDraw
from warlab.reporting.figures.corrupted_truth import draw_legend, infrared_image, show_picture
from warlab.reporting.images.label_maps import colour_labels

TITLE = "Maps of a test tile"
SECTION = "maps"
NEEDS = ("tiles", "maps")
SHARE = 0.4  # of the tile's shorter side that the close-up shows
INCHES = 1.25  # width of a panel
CAPTION = (
    "Image, ground truth and the map of each method. The lower row shows the area outlined in orange, where the "
    "methods make most errors. CCE (clean) was trained on the true labels, the others on corrupted ones. For a "
    "method with two networks, the map is of the first."
)


def draw(inputs: Inputs) -> Drawing:
    maps = [entry for entry in inputs.maps if entry.run.dataset in inputs.tiles]
    if not maps:
        raise NothingToDraw("There are no maps to show; train a method on tiles first.")
    dataset = maps[0].run.dataset
    maps = sorted((m for m in maps if m.run.dataset == dataset), key=lambda entry: entry.run.noise != "clean")
    arrays, about = inputs.tiles[dataset].arrays, inputs.tiles[dataset].about
    image, truth, *predicted = (
        unflat(flat, arrays["test_sizes"])[0]
        for flat in (arrays["test_x"], arrays["test_y"], *(entry.labels for entry in maps))
    )
    columns = [ColumnId(entry.run.method, "clean" if entry.run.noise == "clean" else "") for entry in maps]
    titles = [f"test tile {about.test_tiles[0]}", "ground truth"]
    titles += [names.plot_method(inputs.labels, str(column)) for column in columns]
    pictures = [infrared_image(image), *(colour_labels(classes, about) for classes in (truth, *predicted))]
    area = choose_close_up(truth, predicted)
    corner, side = (area[1].start - 0.5, area[0].start - 0.5), area[0].stop - area[0].start
    shape = truth.shape[0] / truth.shape[1]
    figure = Figure(figsize=(INCHES * len(pictures), INCHES * (shape + 1) + 0.9))
    rows = figure.subplots(2, len(pictures), height_ratios=[shape, 1])
    for whole, part, picture, title in zip(*rows, pictures, titles, strict=True):
        show_picture(whole, picture, title)
        whole.add_patch(Rectangle(corner, side, side, fill=False, edgecolor=style.ORANGE, linewidth=1.4))
        show_picture(part, picture[area], "")
    draw_legend(figure, about)
    return Drawing(figure, CAPTION, [dataset])


def choose_close_up(truth: np.ndarray, predicted: Sequence[np.ndarray]) -> tuple[slice, slice]:
    """Return the square with most wrong pixels, summed over all maps."""
    side = max(1, round(SHARE * min(truth.shape)))
    wrong = np.sum([truth != one for one in predicted], axis=0).astype(float)
    density = ndimage.uniform_filter(wrong, side, mode="constant")
    half = side // 2
    inner = density[half : truth.shape[0] - side + half + 1, half : truth.shape[1] - side + half + 1]
    top, left = np.unravel_index(int(np.argmax(inner)), inner.shape)
    return slice(int(top), int(top) + side), slice(int(left), int(left) + side)
