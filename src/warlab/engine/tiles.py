"""Pixels as samples: training on random patches of tiles, evaluation on whole tiles.

A network for maps is wrapped so that it gives one row per pixel. Methods and losses then see pixels as they see images,
and a pixel has the same number in all patches that contain it.

The map of a whole tile is blended from overlapping patches by a Gaussian window:

    P(pixel) = sum_k w(pixel - patch_k) p_k(pixel) / sum_k w(pixel - patch_k),   w = exp(-(u² + v²) / (2 sigma²))

with u and v from -1 to 1 over a patch. The paper gives sigma = 1 without a unit; one pixel would make no window.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from warlab.artefacts.labelled_data import DataDescription
from warlab.artefacts.run_config import Training
from warlab.common.seeds import derive_seed
from warlab.data.formats.flat_tiles import objects, starts, unflat
from warlab.engine.images import Normalise, RunData, SampleSet, WrongLabels, confusion, recall
from warlab.errors import WarlabError
from warlab.methods.base import Batch, Method, evaluating

# (top, lefts) of patches in one row → probabilities (M, len(lefts), C, patch, patch) of M networks
Predict = Callable[[int, list[int]], Tensor]
WATCHED = 16  # patches on which memorisation is measured
BAND = 8  # patches: the width of a band of a tile, and how many go through the network at once


class PixelRows(nn.Module):
    """Maps (B, C, H, W) of a network as rows (B · H · W, C), image by image and row by row."""

    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, x: Tensor) -> Tensor:
        maps = self.net(x)
        return maps.movedim(1, -1).reshape(-1, maps.shape[1])


class Tiles:
    """Tiles of these `sizes` as flat uint8 pixels (channels, P) on the device; a pixel's number is its place there."""

    def __init__(
        self, flat: np.ndarray, sizes: np.ndarray, mean: Sequence[float], std: Sequence[float], device: torch.device
    ) -> None:
        self.flat = torch.from_numpy(flat).to(device)
        self.sizes, self.first = sizes, starts(sizes)
        self.normalise = Normalise(mean, std, device)

    def __getitem__(self, number: Tensor) -> Tensor:
        """(B, H, W) numbers of pixels → normalised float32 images (B, channels, H, W)"""
        return self.normalise(self.flat[:, number].movedim(0, 1))

    def window(self, tile: int, top: int, left: int, side: int) -> Tensor:
        """Return the numbers of the pixels of a window of a tile, (side, side) int64."""
        first, width, device = int(self.first[tile]), int(self.sizes[tile, 1]), self.flat.device
        rows = torch.arange(top, top + side, device=device) * width
        return first + rows[:, None] + torch.arange(left, left + side, device=device)[None]


class Patches:
    """Training batches, `steps` in an epoch: patches at random places, rotated by multiples of 90° and mirrored."""

    def __init__(self, tiles: Tiles, labels: Tensor, training: Training, seed: int) -> None:
        self.tiles, self.labels, self.seed = tiles, labels, seed
        self.patch, self.steps, self.batch_size = training["patch"], training["steps"], training["batch_size"]
        if tiles.sizes.min() < self.patch:
            raise WarlabError(f"A tile has a side of {tiles.sizes.min()} pixels; set a patch of at most that.")

    def __len__(self) -> int:
        return len(self.labels)

    def epoch(self, epoch: int) -> list[Tensor]:
        """(B, 4) per batch: tile, top, left, and one of eight orientations, drawn by (seed, epoch, step)."""
        sizes = self.tiles.sizes
        area = sizes.prod(1) / sizes.prod(1).sum()
        batches = []
        for step in range(self.steps):
            rng = np.random.default_rng(derive_seed("patches", self.seed, epoch, step))
            tiles = rng.choice(len(area), size=self.batch_size, p=area)
            corner = rng.integers(0, sizes[tiles] - self.patch + 1)
            batches.append(torch.from_numpy(np.column_stack([tiles, corner, rng.integers(0, 8, self.batch_size)])))
        return batches

    def batch(self, index: Tensor) -> Batch:
        """Images and labels are read at the same numbers of pixels, so they have the same orientation."""
        number = torch.stack(
            [orient(self.tiles.window(tile, top, left, self.patch), way) for tile, top, left, way in index.tolist()]
        )
        return Batch(self.tiles[number], self.labels[number].reshape(-1), number.reshape(-1))

    def ordered_batches(self, size: int = 1000) -> Iterator[Batch]:
        raise WarlabError("This method needs predictions for every training sample, which it has for images only.")


def orient(square: Tensor, way: int) -> Tensor:
    """Return a square (side, side) rotated by way · 90°; from way 4 on it is mirrored first."""
    return torch.rot90(square.flip(1) if way >= 4 else square, way % 4)


@dataclass(frozen=True)
class Window:
    """How a tile is cut into patches: their side and overlap in pixels, and sigma of the weights in half patches."""

    patch: int
    overlap: int
    sigma: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.overlap < self.patch or not self.sigma > 0:
            raise WarlabError(
                f"Patches of {self.patch} pixels cannot overlap by {self.overlap} with sigma {self.sigma}; "
                "give an overlap below the patch and a sigma above 0."
            )

    def places(self, size: int) -> list[int]:
        """Return where patches begin along a side: every (patch - overlap) pixels, the last one at the edge."""
        if size < self.patch:
            raise WarlabError(f"A tile of {size} pixels is smaller than a patch of {self.patch}; set a smaller patch.")
        return [*range(0, size - self.patch, self.patch - self.overlap), size - self.patch]

    def weights(self, device: torch.device) -> Tensor:
        u = torch.linspace(-1, 1, self.patch, device=device)
        edge = torch.exp(-(u**2) / (2 * self.sigma**2))
        return edge[:, None] * edge[None, :]


def blend(predict: Predict, height: int, width: int, window: Window) -> Iterator[tuple[slice, slice, Tensor]]:
    """Return pieces of the map of a tile: rows, columns, probabilities (M, C, rows, columns).

    A tile is computed in bands of columns, and rows are yielded as soon as no further patch covers them. So the memory
    is that of one row of patches in a band, whatever the size of the tile.
    """
    widest = BAND * window.patch
    for left in range(0, width, widest):
        columns = slice(left, min(width, left + widest))
        for rows, piece in _band(predict, window, height, width, columns):
            yield rows, columns, piece


def _band(predict: Predict, window: Window, height: int, width: int, columns: slice) -> Iterator[tuple[slice, Tensor]]:
    patch, tops = window.patch, window.places(height)
    lefts = [left for left in window.places(width) if left < columns.stop and left + patch > columns.start]
    total, weight = None, None
    for top, following in zip(tops, [*tops[1:], height], strict=True):
        for start in range(0, len(lefts), BAND):
            group = lefts[start : start + BAND]
            p = predict(top, group)
            if total is None or weight is None:
                total = p.new_zeros(*p.shape[:1], p.shape[2], patch, columns.stop - columns.start)
                weight, shape = p.new_zeros(total.shape[2:]), window.weights(p.device)
            for number, left in enumerate(group):
                low, high = max(left, columns.start), min(left + patch, columns.stop)
                in_band, in_patch = slice(low - columns.start, high - columns.start), slice(low - left, high - left)
                total[..., in_band] += p[:, number, :, :, in_patch] * shape[:, in_patch]
                weight[:, in_band] += shape[:, in_patch]
        done = following - top if following < height else patch
        assert total is not None and weight is not None
        yield slice(top, top + done), total[:, :, :done] / weight[:done]
        total, weight = (pad(band[..., done:, :], (0, 0, 0, done)) for band in (total, weight))


class TileEvaluator:
    """The scores on whole test tiles, and the share of the pixels with `wrong` labels that are memorised."""

    def __init__(
        self, tiles: Tiles, truth: np.ndarray, wrong: WrongLabels, window: Window, about: DataDescription
    ) -> None:
        self.tiles, self.wrong, self.window = tiles, wrong, window
        self.truth = unflat(truth, tiles.sizes)
        self.recent: list[Tensor] = []  # not kept: finished.py makes maps from the weights
        names = about.class_names
        self.classes = len(names)
        self.scored = {names.index(name): metric for name, metric in about.scored.items()}

    def __call__(self, method: Method, models: Sequence[nn.Module]) -> dict[str, float]:
        """Return every score in percent, averaged over the networks that the method reports."""
        tiles = zip(self.truth, self.maps(method, models), strict=True)
        counts = np.sum([[confusion(truth, one, self.classes) for one in maps] for truth, maps in tiles], axis=0)
        networks = [scores(matrix, self.scored) for matrix in counts]
        means = {name: float(np.mean([one[name] for one in networks])) for name in networks[0]}
        with evaluating(*models):
            memorised = self.wrong.memorised(method, models)
        return {"test_accuracy": means["overall_accuracy"], **means, **memorised, **recall(counts)}

    def maps(self, method: Method, models: Sequence[nn.Module]) -> Iterator[np.ndarray]:
        """Return the label maps (M, H, W) of each test tile, one per network."""
        with evaluating(*models):
            for tile in range(len(self.truth)):
                yield self._map(method, models, tile)

    def _map(self, method: Method, models: Sequence[nn.Module], tile: int) -> np.ndarray:
        height, width = self.tiles.sizes[tile].tolist()
        side = self.window.patch

        def predict(top: int, lefts: list[int]) -> Tensor:
            number = torch.stack([self.tiles.window(tile, top, left, side) for left in lefts])
            rows = method.predict(models, self.tiles[number]).softmax(2)
            return rows.view(len(rows), len(lefts), side, side, -1).movedim(-1, 2)

        pieces = blend(predict, height, width, self.window)
        parts = [(rows, columns, p.argmax(1).to(torch.uint8).cpu().numpy()) for rows, columns, p in pieces]
        labels = np.empty((len(parts[0][2]), height, width), np.uint8)
        for rows, columns, part in parts:
            labels[:, rows, columns] = part
        return labels


def f1(counts: np.ndarray) -> np.ndarray:
    """2 TP / (2 TP + FP + FN) per class in percent; 100 for a class that neither occurs nor is predicted."""
    right = counts.diagonal().astype(float)
    both = counts.sum(0) + counts.sum(1)
    return 100 * np.divide(2 * right, both, out=np.ones_like(right), where=both > 0)


def scores(counts: np.ndarray, scored: Mapping[int, str]) -> dict[str, float]:
    """F1 of each class in `scored`, their average, and the share of correct pixels, in percent. The classes that are
    not scored count as predictions and in the share."""
    per_class = f1(counts)
    named = {name: float(per_class[label]) for label, name in scored.items()}
    overall = 100 * float(counts.diagonal().sum() / counts.sum())
    return {**named, "f1_average": float(np.mean(list(named.values()))), "overall_accuracy": overall}


def sample_set(run: RunData) -> SampleSet:
    arrays, about, labels, training = run.arrays, run.about, run.labels, run.training
    device = labels.device
    train, test = (
        Tiles(arrays[f"{part}_x"], arrays[f"{part}_sizes"], about.mean, about.std, device) for part in ("train", "test")
    )
    window = Window(training["patch"], training["overlap"], training["sigma"])
    data = Patches(train, labels, training, run.seed)
    never_trained = data.epoch(-1)[: -(-WATCHED // training["batch_size"])]
    wrong = WrongLabels(data, never_trained, run.checked)
    return SampleSet(
        channels=len(arrays["train_x"]),
        data=data,
        evaluate=TileEvaluator(test, arrays["test_y"], wrong, window, about),
        adapt=PixelRows,
        units=lambda: torch.from_numpy(objects(labels.cpu().numpy(), arrays["train_sizes"])).to(device),
    )
