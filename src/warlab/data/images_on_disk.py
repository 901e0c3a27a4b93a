"""Images on disk: the kind of dataset with too many images for memory. They are resized once, into shards."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from warlab.artefacts.labelled_data import PreparedData
from warlab.common.files import digest
from warlab.data.base import Dataset, DataSpec
from warlab.data.formats.shards import pack
from warlab.data.images_in_memory import choose, subset_seed
from warlab.data.in_place import InPlace, place

# part (train, val, test) → the files of its images, and their labels
Lists = Mapping[str, tuple[list[str], np.ndarray]]


@dataclass(frozen=True, kw_only=True)
class ImagesOnDisk(InPlace):
    """`read_lists` reads the lists in the owners' folder. Images are resized to `side` × `side` pixels, and
    networks see the `crop` × `crop` pixels in the middle."""

    samples: ClassVar[str] = "stored"
    sentences: ClassVar[Mapping[str, str]] = {**Dataset.sentences, "real": "{title}, the owners' folder"}

    read_lists: Callable[[Path], Lists]
    side: int
    crop: int

    def read_part(self, root: Path, spec: DataSpec, threads: int) -> PreparedData:
        """Resize the images that are not yet resized, and select the scale's part of the lists."""
        folder, side, crop = place(root), self.side // spec.pool, self.crop // spec.pool
        lists = self.read_lists(folder)
        # Identifies the images in the shards, their order and size: other lists get other shards.
        images = digest(json.dumps([[keys for keys, _ in lists.values()], side]).encode())
        shards = root / f"resized-{side}-{images[:12]}"
        pack([folder / key for keys, _ in lists.values() for key in keys], side, shards, threads)
        arrays = _parts(lists, spec, subset_seed(self.name))
        more = {"shards": str(shards), "shards_sha256": images, "crop": crop, "n_val": len(arrays["val_y"])}
        return PreparedData(self.describe(spec, arrays, [3, crop, crop], **more), arrays)


def _parts(lists: Lists, spec: DataSpec, seed: int) -> dict[str, np.ndarray]:
    """Return a stratified part of each list: labels, and the numbers of the images in the shards. `spec.test` is also
    the number of validation images."""
    arrays: dict[str, np.ndarray] = {}
    first = 0
    for part, (_, labels) in lists.items():
        wanted = spec.train if part == "train" else spec.test
        taken = choose(labels, min(wanted, len(labels)) if wanted else None, seed, part)
        arrays |= {f"{part}_y": labels[taken], f"{part}_i": first + taken}
        first += len(labels)
    return arrays
