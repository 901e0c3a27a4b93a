"""The user's own tiles for segmentation: rasters of any number of bands, and one of classes for each of them.

train/images/north.tif and train/labels/north.tif, the same in test/, and the names of the classes in classes.txt. Bands
of more than 8 bits become bytes between two percentiles of the training tiles, the same for all tiles.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from colorsys import hsv_to_rgb
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np

from warlab.artefacts.labelled_data import PreparedData
from warlab.common.files import write_atomic
from warlab.common.seeds import derive_seed
from warlab.common.wording import for_terminal
from warlab.data import in_place
from warlab.data.base import DataSpec, Pixels
from warlab.data.formats.flat_tiles import Tile, flat_arrays, pooled
from warlab.data.formats.geotiff import read_raster, stretched
from warlab.data.tile_dataset import TileDataset
from warlab.data.user_data import listed_classes, mean_and_deviation
from warlab.errors import WarlabError

MOST_CLASSES = 256  # that fit into a byte
PERCENTILES = (0.1, 99.9)  # of a band, between which its values are spread over the bytes


@dataclass(frozen=True, kw_only=True)
class UserTiles(TileDataset):
    """The classes, colours and splits are those of the folder."""

    sentences: ClassVar[Mapping[str, str]] = {**TileDataset.sentences, "real": "the user's own data"}

    splits: Mapping[str, Sequence[str]] = field(default_factory=dict)
    scored: Mapping[int, str] = field(default_factory=dict)

    def read_part(self, root: Path, spec: DataSpec, threads: int) -> PreparedData:
        folder = in_place.place(root)
        classes = listed_classes(folder)
        if classes is None:
            raise WarlabError(f"{folder} has no {in_place.CLASSES}; write the names of the classes, one per line.")
        if (count := len(classes.names)) > MOST_CLASSES:
            raise WarlabError(
                f"{folder / in_place.CLASSES} has {count} names; tiles have at most {MOST_CLASSES} classes."
            )
        colours = [hsv_to_rgb(number / count, 0.45 + 0.5 * (number % 2), 0.9) for number in range(count)]
        bytes_ = tuple((round(255 * r), round(255 * g), round(255 * b)) for r, g, b in colours)
        metrics = {number: f"f1_{re.sub('[^a-z0-9]+', '_', name.lower())}" for number, name in enumerate(classes.names)}
        if len(set(metrics.values())) < count:
            raise WarlabError(f"{folder / in_place.CLASSES} has names that differ in signs alone; rename a class.")
        own = replace(
            self,
            classes=replace(classes, colours=bytes_),
            splits=_find(folder),
            scored=metrics,
            read_tile=partial(read_tile, classes=count),
        )
        both = _as_bytes(*own.take(folder, spec, pool=1))
        train, test = ([pooled(tile, spec.pool) for tile in part] for part in both)
        mean, std = mean_and_deviation(flat_arrays(train, test)["train_x"][None])
        pixels = Pixels(mean=tuple(mean.tolist()), std=tuple(np.maximum(std, 1e-3).tolist()))
        return replace(own, pixels=pixels).prepared(spec, train, test)


def _find(folder: Path) -> dict[str, list[str]]:
    """Return the places of the images of both parts, such as train/images/north.tif."""
    found = {
        part: sorted(f"{part}/images/{path.name}" for path in _rasters(folder / part)) for part in ("train", "test")
    }
    for part, names in found.items():
        if not names:
            raise WarlabError(f"{folder / part / 'images'} has no .tif files; see docs/your-own-data.md.")
    stems = Counter(Path(name).stem for names in found.values() for name in names)
    if twice := [stem for stem, times in stems.items() if times > 1]:
        raise WarlabError(f"{folder} has two tiles {for_terminal(twice[0])}; rename one of them.")
    return found


def _rasters(part: Path) -> Iterator[Path]:
    return (path for path in part.glob("images/*") if path.suffix.lower() in (".tif", ".tiff"))


def read_tile(folder: Path, name: str, classes: int = 256) -> Tile:
    """Return a tile whose image has the type that the file has."""
    path = folder / name
    file = path.parent.with_name("labels") / path.name
    if not file.is_file():
        raise WarlabError(f"{for_terminal(path)} has no classes; put them into {for_terminal(file)}.")
    (image, world), (labels, _) = read_raster(path), read_raster(file)
    if len(labels) > 1 or labels.dtype.kind == "f":
        raise WarlabError(f"{for_terminal(file)} has {len(labels)} bands of {labels.dtype}; it needs one of integers.")
    if labels.shape[1:] != image.shape[1:]:
        sizes = [f"{width} × {height}" for _, height, width in (labels.shape, image.shape)]
        raise WarlabError(f"{for_terminal(file)} is {sizes[0]} pixels but its image is {sizes[1]}; cut them alike.")
    if (wrong := labels[(labels < 0) | (labels >= classes)]).size:
        raise WarlabError(
            f"{for_terminal(file)} has the class {wrong[0]}, but {in_place.CLASSES} names the classes 0 to "
            f"{classes - 1}; every pixel needs one of them."
        )
    return Tile(path.stem, image, labels[0].astype(np.uint8), world)


def _as_bytes(train: Sequence[Tile], test: Sequence[Tile]) -> tuple[list[Tile], list[Tile]]:
    kinds = {(len(tile.image), tile.image.dtype): tile.name for tile in (*train, *test)}
    if len(kinds) > 1:
        said = [f"{for_terminal(name)} has {bands} bands of {dtype}" for (bands, dtype), name in kinds.items()]
        raise WarlabError(f"Tiles must be alike: {said[0]}, {said[1]}.")
    if train[0].image.dtype == np.uint8:
        return list(train), list(test)
    flat = np.concatenate([tile.image.reshape(len(tile.image), -1) for tile in train], axis=1)
    low, high = np.percentile(flat, PERCENTILES, axis=1)
    one, two = ([replace(tile, image=stretched(tile.image, low, high)) for tile in part] for part in (train, test))
    return one, two


def stand_in(root: Path, seed: int) -> None:
    """Draw tiles of a town with four bands of 16 bits, three of an image and one of heights."""
    import tifffile

    from warlab.data.synthetic.aerial import town
    from warlab.data.synthetic.photograph import irrg, surface

    for split, name in zip(("train", "train", "test"), ("north", "west", "south"), strict=True):
        scene = town(96, 112, np.random.default_rng(derive_seed("own tiles", seed, name)))
        bands = [*np.moveaxis(irrg(scene), 2, 0) * 16.0, 100 * surface(scene)[1]]
        for kind, pixels in (("images", np.stack(bands, 2).astype(np.uint16)), ("labels", scene.labels % 5)):
            write = partial(tifffile.imwrite, data=pixels, photometric="minisblack", planarconfig="contig")
            write_atomic(root / split / kind / f"{name}.tif", write)
    (root / in_place.CLASSES).write_text("road\nhouse\nlawn\ntree\ncar\n")
    in_place.write_pointer(root, ".")


DATASET = UserTiles(
    name="tiles",
    title="Own tiles",
    licence="the user's",
    homepage="docs/your-own-data.md",
    stand_in=stand_in,
    read_tile=read_tile,
)
