"""Images whose label the noise changed: rows are kinds of flip, true class → given label."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from warlab.reporting import style
from warlab.reporting.figures.base import Inputs, NothingToDraw, mark_panels, with_stand_in
from warlab.reporting.read.artefacts import Arrays, DataMeta, Noise
from warlab.reporting.tables import labels

TITLE = "Images whose label was changed"
SECTION = "data"
NEEDS = ("data", "noise")
ROWS = 8
SAMPLES = 7
GAP = 0.12  # of an image's width
ROW_INCHES = 0.42


def draw(inputs: Inputs) -> Figure:
    shown = _shown(inputs)
    blocks = [_flips(entry, *inputs.data[entry["dataset"]]) for entry in shown]
    heights = [len(flips) for flips in blocks]
    with style.context():
        width = max(style.COLUMN, SAMPLES * ROW_INCHES + 2.0)
        figure = Figure(figsize=(width, ROW_INCHES * sum(heights) + 0.45 * len(blocks)))
        axes = figure.subplots(len(blocks), 1, squeeze=False, height_ratios=heights).ravel()
        for ax, flips, entry in zip(axes, blocks, shown, strict=True):
            _mosaic(ax, flips)
            ax.set_title(", ".join(labels.name(inputs.labels, kind, entry[kind]) for kind in ("dataset", "noise")))
        mark_panels(figure, inputs, axes, [entry["dataset"] for entry in shown])
    return figure


def caption(inputs: Inputs) -> str:
    shown = _shown(inputs)
    text = (
        "Training images whose label was changed by the noise, the most frequent kinds of change first: "
        "true class → label given to the methods, with the number of such images. "
        "Of each dataset the noise of the highest rate, first seed."
    )
    return with_stand_in(text, inputs, [entry["dataset"] for entry in shown])


def _shown(inputs: Inputs) -> list[Noise]:
    """Per dataset the first manifest (that is, the first seed) of the noise with the highest rate."""
    drawable = [entry for entry in inputs.noise if _drawable(entry, inputs)]
    if not drawable:
        raise NothingToDraw("No noise of this scale is known to change a label.")
    datasets = dict.fromkeys(entry["dataset"] for entry in drawable)
    by_dataset = [[entry for entry in drawable if entry["dataset"] == dataset] for dataset in datasets]
    return [max(entries, key=lambda entry: entry["rate"]) for entries in by_dataset]


def _drawable(entry: Noise, inputs: Inputs) -> bool:
    """Images in memory of which at least one has another label: open-set noise, for one, flips none."""
    arrays = inputs.data[entry["dataset"]][0] if entry["dataset"] in inputs.data else {}
    if "train_x" not in arrays or arrays["train_x"].ndim != 4:
        return False
    return bool((entry["labels"] != arrays["train_y"]).any())


def _flips(entry: Noise, arrays: Arrays, meta: DataMeta) -> list[tuple[str, np.ndarray]]:
    """The kinds of flip, the most frequent first, each in words and with its first images."""
    clean, noisy = arrays["train_y"], entry["labels"]
    pairs, counts = np.unique(np.stack([clean, noisy])[:, clean != noisy], axis=1, return_counts=True)
    classes, found = [labels.plot_text(name) for name in meta["class_names"]], []
    for kind in np.argsort(-counts, kind="stable")[:ROWS]:
        true, given = pairs[:, kind]
        images = arrays["train_x"][np.flatnonzero((clean == true) & (noisy == given))[:SAMPLES]]
        found.append((f"{classes[true]} → {classes[given]}\n{counts[kind]} images", images))
    return found


def _mosaic(ax: Axes, flips: Sequence[tuple[str, np.ndarray]]) -> None:
    """All samples in one picture: a grid of axes would be slow and would not align."""
    height, width = flips[0][1].shape[-2:]
    gap = max(1, round(GAP * width))
    canvas = np.ones((len(flips) * (height + gap), SAMPLES * (width + gap), 3))
    tops = range(0, len(canvas), height + gap)
    for top, (_, images) in zip(tops, flips, strict=True):
        for column, image in enumerate(images):
            left = column * (width + gap)
            canvas[top : top + height, left : left + width] = _rgb(image)
    ax.imshow(canvas, aspect="equal")
    ax.set_yticks([top + height / 2 for top in tops], [text for text, _ in flips])
    ax.set_xticks([])
    ax.tick_params(length=0)
    ax.grid(False)
    ax.spines[:].set_visible(False)


def _rgb(image: np.ndarray) -> np.ndarray:
    """(C, H, W) bytes → (H, W, 3) in 0..1; one channel is drawn dark on white, of many the first three."""
    channels = image.astype(float) / 255
    if len(channels) < 3:
        return np.repeat(1 - channels[0][..., None], 3, axis=2)
    return np.moveaxis(channels[:3], 0, 2)
