"""Pixels as samples: random patches of tiles to train on, whole tiles to be tested on.

A network for maps is wrapped so that it gives one row per pixel. Methods and losses then see pixels as they see images,
and a pixel has one number wherever it appears.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from warlab.artefacts.labelled_data import DataDescription
from warlab.artefacts.run_config import Training
from warlab.common.seeds import derive_seed
from warlab.data.formats.flat_tiles import objects, starts, unflat
from warlab.engine.batches import Material, Normalise, RunData, purity
from warlab.engine.blend import Window, blended
from warlab.errors import WarlabError
from warlab.methods.base import Batch, Method, evaluating


class PixelRows(nn.Module):
    """Maps (B, C, H, W) of a network as rows (B · H · W, C), image by image and row by row."""

    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, x: Tensor) -> Tensor:
        maps = self.net(x)
        return maps.movedim(1, -1).reshape(-1, maps.shape[1])


class Tiles:
    """Flat uint8 pixels (channels, P) on the device and the tiles of these `sizes` that they fill, by their numbers."""

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
        """The numbers of the pixels of a window of a tile, (side, side) int64."""
        first, width, device = int(self.first[tile]), int(self.sizes[tile, 1]), self.flat.device
        rows = torch.arange(top, top + side, device=device) * width
        return first + rows[:, None] + torch.arange(left, left + side, device=device)[None]


class Patches:
    """Training batches: `steps` times an epoch, patches at random places, turned by 90° and mirrored at random."""

    def __init__(self, tiles: Tiles, labels: Tensor, training: Training, seed: int) -> None:
        self.tiles, self.labels, self.seed = tiles, labels, seed
        self.patch, self.steps, self.batch_size = training["patch"], training["steps"], training["batch_size"]
        if tiles.sizes.min() < self.patch:
            raise WarlabError(f"A tile has a side of {tiles.sizes.min()} pixels; set a patch of at most that.")

    def __len__(self) -> int:
        return len(self.labels)

    def epoch(self, epoch: int) -> list[Tensor]:
        """(B, 4) per batch: tile, top, left, and one of eight ways to lie; (seed, epoch, step) decides each of them."""
        return [self._draw(epoch, step) for step in range(self.steps)]

    def _draw(self, epoch: int, step: int) -> Tensor:
        rng = np.random.default_rng(derive_seed("patches", self.seed, epoch, step))
        sizes = self.tiles.sizes
        area = sizes.prod(1) / sizes.prod(1).sum()
        tiles = rng.choice(len(area), size=self.batch_size, p=area)
        corner = rng.integers(0, sizes[tiles] - self.patch + 1)
        return torch.from_numpy(np.column_stack([tiles, corner, rng.integers(0, 8, self.batch_size)]))

    def batch(self, index: Tensor) -> Batch:
        """Images and labels are taken by the same numbers of pixels, so they lie alike."""
        number = torch.stack(
            [laid(self.tiles.window(tile, top, left, self.patch), way) for tile, top, left, way in index.tolist()]
        )
        return Batch(self.tiles[number], self.labels[number].reshape(-1), number.reshape(-1))

    def in_order(self, size: int = 1000) -> Iterator[Batch]:
        raise WarlabError("This method needs predictions for every training sample, which it has for images only.")


def laid(square: Tensor, way: int) -> Tensor:
    """A square (side, side) turned by way · 90°, mirrored from the fourth way on."""
    return torch.rot90(square.flip(1) if way >= 4 else square, way % 4)


class TileEvaluator:
    """The scores on whole test tiles; `trusted` says of every training pixel whether its label is true."""

    def __init__(
        self, tiles: Tiles, truth: np.ndarray, trusted: Tensor, window: Window, about: DataDescription
    ) -> None:
        self.tiles, self.trusted, self.window = tiles, trusted, window
        self.truth = unflat(truth, tiles.sizes)
        self.recent: list[Tensor] = []  # maps are made from the weights, see finished.py
        names = about.class_names
        self.classes = len(names)
        self.scored = {names.index(name): metric for name, metric in about.scored.items()}

    def __call__(self, method: Method, models: Sequence[nn.Module]) -> dict[str, float]:
        """Every score in percent, averaged over the networks that the method reports."""
        tiles = zip(self.truth, self.maps(method, models), strict=True)
        counts = np.sum([[confusion(truth, one, self.classes) for one in maps] for truth, maps in tiles], axis=0)
        found = [scores(matrix, self.scored) for matrix in counts]
        means = {name: float(np.mean([one[name] for one in found])) for name in found[0]}
        return {"test_accuracy": means["overall_accuracy"], **means}

    def maps(self, method: Method, models: Sequence[nn.Module]) -> Iterator[np.ndarray]:
        """The label maps (M, H, W) of each test tile, one per network."""
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

        pieces = blended(predict, height, width, self.window)
        parts = [(rows, columns, p.argmax(1).to(torch.uint8).cpu().numpy()) for rows, columns, p in pieces]
        labels = np.empty((len(parts[0][2]), height, width), np.uint8)
        for rows, columns, part in parts:
            labels[:, rows, columns] = part
        return labels

    def purity(self, selected: Tensor, index: Tensor) -> dict[str, Tensor]:
        return purity(selected, self.trusted[index])


def confusion(truth: np.ndarray, predicted: np.ndarray, classes: int) -> np.ndarray:
    """Counts (C, C): row = true class, column = predicted class."""
    pairs = truth.reshape(-1).astype(np.int64) * classes + predicted.reshape(-1)
    return np.bincount(pairs, minlength=classes**2).reshape(classes, classes)


def f1(counts: np.ndarray) -> np.ndarray:
    """2 TP / (2 TP + FP + FN) per class in percent; 100 for a class that is neither there nor predicted."""
    right = counts.diagonal().astype(float)
    both = counts.sum(0) + counts.sum(1)
    return 100 * np.divide(2 * right, both, out=np.ones_like(right), where=both > 0)


def scores(counts: np.ndarray, scored: Mapping[int, str]) -> dict[str, float]:
    """F1 of each class that `scored` names, their average, and the share of all pixels, those of other classes
    included, whose class is right, all in percent. All classes count as what a pixel may be taken for."""
    per_class = f1(counts)
    named = {name: float(per_class[label]) for label, name in scored.items()}
    overall = 100 * float(counts.diagonal().sum() / counts.sum())
    return {**named, "f1_average": float(np.mean(list(named.values()))), "overall_accuracy": overall}


def material(given: RunData) -> Material:
    arrays, about, labels, training = given.arrays, given.about, given.labels, given.training
    device = labels.device
    train, test = (
        Tiles(arrays[f"{part}_x"], arrays[f"{part}_sizes"], about.mean, about.std, device) for part in ("train", "test")
    )
    window = Window(training["patch"], training["overlap"], training["sigma"])
    return Material(
        channels=len(arrays["train_x"]),
        data=Patches(train, labels, training, given.seed),
        evaluate=TileEvaluator(test, arrays["test_y"], given.trusted, window, about),
        adapt=PixelRows,
        units=lambda: torch.from_numpy(objects(labels.cpu().numpy(), arrays["train_sizes"])).to(device),
    )
