"""Tiles: the kind of dataset whose samples are the pixels of images of different sizes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from warlab.artefacts.labelled_data import PreparedData
from warlab.data.base import DataSpec
from warlab.data.formats.flat_tiles import Tile, flat_arrays, pooled
from warlab.data.in_place import InPlace
from warlab.errors import WarlabError


@dataclass(frozen=True, kw_only=True)
class TileDataset(InPlace):
    """`read_tile` reads a tile in a folder by its name; `splits` name the tiles (train, validation, test). `scored`
    names the metric of each class that is reported."""

    samples: ClassVar[str] = "tiles"
    sentences: ClassVar[Mapping[str, str]] = {
        "stand_in": "procedural tiles, a stand-in for {title}",
        "real": "{title}, own folder",
    }

    read_tile: Callable[[Path, str], Tile]
    splits: Mapping[str, Sequence[str]]
    scored: Mapping[int, str]

    def read_part(self, root: Path, spec: DataSpec, threads: int) -> PreparedData:
        """Return the tiles that a scale asks for; `train` and `test` count tiles."""
        return self.prepared(spec, *self.take(root, spec, spec.pool))

    def prepared(self, spec: DataSpec, train: Sequence[Tile], test: Sequence[Tile]) -> PreparedData:
        arrays, names = flat_arrays(train, test), self.classes.names
        # A scored class without training pixels could not be learnt; others, such as clutter, may be missing.
        counts = np.bincount(arrays["train_y"], minlength=len(names))
        if missing := [names[k] for k in self.scored if counts[k] == 0]:
            raise WarlabError(f"No training pixel is {missing[0]}; take more training tiles.")
        largest = np.concatenate([arrays["train_sizes"], arrays["test_sizes"]]).max(0)
        about = self.describe(
            spec,
            arrays,
            [len(arrays["train_x"]), *map(int, largest)],
            n_train=len(train),
            n_test=len(test),
            train_tiles=[tile.name for tile in train],
            test_tiles=[tile.name for tile in test],
            world={tile.name: tile.world for tile in (*train, *test)},
            scored={names[k]: metric for k, metric in self.scored.items()},
            colours=[list(colour) for colour in self.classes.colours],
        )
        return PreparedData(about, arrays)

    def take(self, root: Path, spec: DataSpec, pool: int) -> Iterator[list[Tile]]:
        """Yield the training tiles and the test tiles."""
        for split, wanted in (("train", spec.train), ("test", spec.test)):
            names = self.splits[split]
            if wanted is not None and not 1 <= wanted <= len(names):
                raise WarlabError(
                    f"{self.title} has {len(names)} {split} tiles, not {wanted}; choose 1 to {len(names)}."
                )
            yield [pooled(self.read_tile(root, name), pool) for name in names[:wanted]]
