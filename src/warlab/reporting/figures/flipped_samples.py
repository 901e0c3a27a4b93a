"""Images whose label the noise changed: rows are kinds of flip, true class → given label."""

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
    blocks = [_Block(entry, *inputs.data[entry["dataset"]]) for entry in shown]
    heights = [len(block.flips) for block in blocks]
    with style.context():
        height = ROW_INCHES * sum(heights) + 0.45 * len(blocks)
        width = SAMPLES * ROW_INCHES + 2.0
        figure = Figure(figsize=(max(style.COLUMN, width), height), layout="constrained")
        axes = figure.subplots(len(blocks), 1, squeeze=False, height_ratios=heights).ravel()
        for ax, block, entry in zip(axes, blocks, shown, strict=True):
            _mosaic(ax, block)
            ax.set_title(", ".join(labels.name(inputs.labels, kind, entry[kind]) for kind in ("dataset", "noise")))
        mark_panels(figure, inputs, [(ax, entry["dataset"]) for ax, entry in zip(axes, shown, strict=True)])
    return figure


def caption(inputs: Inputs) -> str:
    shown = _shown(inputs)
    text = (
        "Training images whose label was changed by the noise, the most frequent kinds of change first: "
        "true class → label given to the methods, with the number of such images. "
        "Of each dataset the noise of the highest rate, first seed."
    )
    return with_stand_in(text, inputs, [entry["dataset"] for entry in shown])


class _Block:
    """The kinds of flip of one dataset, the most frequent first, and where they happened."""

    def __init__(self, entry: Noise, arrays: Arrays, meta: DataMeta) -> None:
        clean, noisy = arrays["train_y"], np.asarray(entry["labels"])
        pairs, counts = np.unique(np.stack([clean, noisy])[:, clean != noisy], axis=1, return_counts=True)
        order = np.argsort(-counts, kind="stable")[:ROWS]
        self.flips = [(int(true), int(given)) for true, given in pairs[:, order].T]
        self.counts = counts[order]
        self.where = [np.flatnonzero((clean == true) & (noisy == given)) for true, given in self.flips]
        self.images = arrays["train_x"]
        self.class_names = meta["class_names"]


def _shown(inputs: Inputs) -> list[Noise]:
    """Per dataset the first manifest (that is, the first seed) of the noise with the highest rate."""
    best: dict[str, Noise] = {}
    for entry in inputs.noise:
        known = best.get(entry["dataset"])
        if _drawable(entry, inputs) and (known is None or entry["rate"] > known["rate"]):
            best[entry["dataset"]] = entry
    if not best:
        raise NothingToDraw("No noise of this scale is known to change a label.")
    return list(best.values())


def _drawable(entry: Noise, inputs: Inputs) -> bool:
    """Images in memory of which at least one has another label: open-set noise, for one, flips none."""
    arrays = inputs.data[entry["dataset"]][0] if entry["dataset"] in inputs.data else {}
    if "train_x" not in arrays or arrays["train_x"].ndim != 4:
        return False
    return bool((np.asarray(entry["labels"]) != arrays["train_y"]).any())


def _mosaic(ax: Axes, block: _Block) -> None:
    """All samples in one picture: a grid of axes would be slow and would not align."""
    side = block.images.shape[-1]
    step = side + max(1, round(GAP * side))
    height = block.images.shape[-2] + step - side
    canvas = np.ones((len(block.flips) * height, SAMPLES * step, 3))
    for row, where in enumerate(block.where):
        for column, index in enumerate(where[:SAMPLES]):
            image = _rgb(block.images[index])
            top, left = row * height, column * step
            canvas[top : top + image.shape[0], left : left + side] = image
    ax.imshow(canvas, aspect="equal")
    classes = [labels.plot_text(name) for name in block.class_names]
    names = [f"{classes[true]} → {classes[given]}" for true, given in block.flips]
    texts = [f"{name}\n{count} images" for name, count in zip(names, block.counts, strict=True)]
    ax.set_yticks([row * height + block.images.shape[-2] / 2 for row in range(len(texts))], texts)
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
