"""Images whose label was changed by the noise; each row has one kind of flip, true class → given label."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from warlab.artefacts.labelled_data import NoisyLabels
from warlab.data.originals import read_originals
from warlab.reporting import names, style
from warlab.reporting.figures.base import Drawing, Inputs, NothingToDraw

TITLE = "Images whose label was changed"
SECTION = "data"
NEEDS = ("data", "noise")
ASKS = {"images": True}
ROWS = 8
SAMPLES = 7
GAP = 0.12  # of an image's width
ROW_INCHES = 0.42
CAPTION = (
    "Training images whose label was changed by the noise, the most frequent changes first: true class → label given "
    "to the methods, with the number of such images. For each dataset, the figure shows the noise with the highest "
    "rate and its first seed."
)


def draw(inputs: Inputs) -> Drawing:
    chosen = _choose_noise(inputs)
    datasets, blocks = [entry.manifest.dataset for entry in chosen], [_flips(entry, inputs) for entry in chosen]
    heights = [len(flips) for flips in blocks]
    width = max(style.COLUMN, SAMPLES * ROW_INCHES + 2.0)
    figure = Figure(figsize=(width, ROW_INCHES * sum(heights) + 0.45 * len(blocks)))
    axes = figure.subplots(len(blocks), 1, squeeze=False, height_ratios=heights).ravel()
    for ax, flips, entry in zip(axes, blocks, chosen, strict=True):
        _draw_mosaic(ax, flips)
        kinds = {"dataset": entry.manifest.dataset, "noise": entry.manifest.noise}
        ax.set_title(", ".join(names.display_name(inputs.labels, *kind) for kind in kinds.items()))
    return Drawing(figure, CAPTION, datasets, list(axes))


def _choose_noise(inputs: Inputs) -> list[NoisyLabels]:
    """Return for each dataset the first labels (that is, the first seed) of the noise with the highest rate, if its
    images are in memory and the noise changes a label; open-set noise, for example, does not."""
    chosen: dict[str, NoisyLabels] = {}
    for entry in sorted(inputs.noise, key=lambda entry: -entry.manifest.rate):
        prepared = inputs.data.get(entry.manifest.dataset)
        if prepared and prepared.about.samples == "images" and (entry.labels != prepared.arrays["train_y"]).any():
            chosen.setdefault(entry.manifest.dataset, entry)
    if not chosen:
        raise NothingToDraw("No noise of this scale is known to change a label.")
    order = list(dict.fromkeys(entry.manifest.dataset for entry in inputs.noise))
    return sorted(chosen.values(), key=lambda entry: order.index(entry.manifest.dataset))


def _flips(entry: NoisyLabels, inputs: Inputs) -> list[tuple[str, Sequence[np.ndarray]]]:
    """Return the kinds of flip, the most frequent first, each with its name and its first images, at full size."""
    dataset, prepared = entry.manifest.dataset, inputs.data[entry.manifest.dataset]
    clean, noisy = prepared.arrays["train_y"], entry.labels
    pairs, counts = np.unique(np.stack([clean, noisy])[:, clean != noisy], axis=1, return_counts=True)
    classes = [names.plot_text(name) for name in prepared.about.class_names]
    kinds = [(*pairs[:, kind], counts[kind]) for kind in np.argsort(-counts, kind="stable")[:ROWS]]
    numbers = [np.flatnonzero((clean == true) & (noisy == given))[:SAMPLES] for true, given, _ in kinds]
    every = np.concatenate(numbers)
    if dataset in inputs.raw:
        images = read_originals(prepared, inputs.raw[dataset], inputs.specs[dataset], every.tolist())
    else:
        images = list(prepared.arrays["train_x"][every])
    texts = [f"{classes[true]} → {classes[given]}\n{count} images" for true, given, count in kinds]
    return [(text, [images.pop(0) for _ in row]) for text, row in zip(texts, numbers, strict=True)]


def _draw_mosaic(ax: Axes, flips: Sequence[tuple[str, Sequence[np.ndarray]]]) -> None:
    """Draw all samples as one image: a grid of axes would be slow and would not align."""
    height, width = flips[0][1][0].shape[-2:]
    gap = max(1, round(GAP * width))
    canvas = np.ones((len(flips) * (height + gap), SAMPLES * (width + gap), 3))
    tops = range(0, len(canvas), height + gap)
    for top, (_, images) in zip(tops, flips, strict=True):
        for column, image in enumerate(images):
            left = column * (width + gap)
            channels = np.moveaxis(image[:3] if len(image) >= 3 else 255 - image[:1], 0, 2)  # one: dark on white
            canvas[top : top + height, left : left + width] = channels / 255
    ax.imshow(canvas, aspect="equal")
    ax.set_yticks([top + height / 2 for top in tops], [text for text, _ in flips])
    ax.set_xticks([])
    ax.tick_params(length=0)
    ax.grid(False)
    ax.spines[:].set_visible(False)
