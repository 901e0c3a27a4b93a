"""The audit of a finished run of the workflow: its records, which labels are wrong, and pictures of its samples."""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from warlab.artefacts.ground_cost import read_matrix
from warlab.artefacts.labelled_data import NoisyLabels, PreparedData
from warlab.audit.record import Means
from warlab.audit.scoring import SCORES, suspects
from warlab.common.files import read_arrays
from warlab.data.formats.flat_tiles import objects, starts, unflat
from warlab.data.originals import read_originals
from warlab.errors import WarlabError

COLUMNS = ("sample", "number", "label", "suggested", *SCORES, "wrong")
MARGIN = 4  # pixels around an object in its picture
DIMMED = 0.45  # brightness of the surroundings of an object


@dataclass(frozen=True)
class AuditedRun:
    """`means` are those of images, or of the objects of tiles; `cost` is that of the run, None for the 0-1 cost."""

    means: Means
    data: PreparedData
    noise: NoisyLabels
    cost: np.ndarray | None
    other: np.ndarray | None  # images of another dataset, which open-set noise put in place of some of these

    @classmethod
    def read(cls, files: Mapping[str, Any]) -> "AuditedRun":
        """Read a run from its files: audit, data, noise and, if it has them, cost and images."""
        data = PreparedData.load(files["data"])
        run = cls(
            means=Means(**read_arrays(Path(files["audit"]))),
            data=data,
            noise=NoisyLabels.load(files["noise"]),
            cost=read_matrix(Path(files["cost"]), data.about.class_names) if "cost" in files else None,
            other=read_arrays(Path(files["images"]), "train_x")["train_x"] if "images" in files else None,
        )
        if len(run.means.labels) != run.units:
            raise WarlabError(f"{files['audit']} does not belong to {files['data']}; train the run again.")
        return run

    @property
    def is_tiles(self) -> bool:
        return "train_sizes" in self.data.arrays

    @cached_property
    def object_of(self) -> np.ndarray:
        """Return the number of the object of every pixel of tiles, by the given labels."""
        return objects(self.noise.labels, self.data.arrays["train_sizes"])

    @property
    def units(self) -> int:
        """Return the number of images, or of objects of tiles."""
        return int(self.object_of.max()) + 1 if self.is_tiles else len(self.noise.labels)

    @cached_property
    def wrong(self) -> np.ndarray | None:
        """Return a mask of wrong labels, or None if unknown or empty; an object is wrong if most of its pixels are."""
        if self.noise.manifest.estimated is not None:
            return None
        wrong = self.noise.labels != self.data.arrays["train_y"]
        if self.noise.replaced is not None:
            wrong[self.noise.replaced] = True
        if self.is_tiles:
            wrong = np.bincount(self.object_of, wrong) > 0.5 * np.bincount(self.object_of)
        return wrong if wrong.any() else None

    def suspects(self) -> np.ndarray:
        return suspects(self.means, cost=self.cost)

    def name(self, number: int) -> str:
        """Return where to find the sample: a file, a row of the data, or a place in a tile."""
        if self.is_tiles:
            tile, rows, columns = self._place(number)
            middle = f"row {int(rows.mean())}, column {int(columns.mean())}"
            return f"tile {self.data.about.train_tiles[tile]}, {middle}, {len(rows)} pixels"
        files = self.data.about.train_files
        return files[number] if files is not None else str(number)

    def picture(self, number: int) -> np.ndarray:
        """Return the sample as uint8 (channels, height, width), before it was normalised for the network."""
        if self.is_tiles:  # the object and its surroundings, which are darker
            tile, rows, columns = self._place(number)
            image = unflat(self.data.arrays["train_x"], self.data.arrays["train_sizes"])[tile]
            picture = (image * DIMMED).astype(np.uint8)
            picture[:, rows, columns] = image[:, rows, columns]
            top, left = max(0, rows.min() - MARGIN), max(0, columns.min() - MARGIN)
            return picture[:, top : rows.max() + MARGIN + 1, left : columns.max() + MARGIN + 1]
        if self.noise.replaced is not None and self.noise.by is not None and self.other is not None:
            at = np.flatnonzero(self.noise.replaced == number)
            if len(at):
                return self.other[self.noise.by[at[0]]]
        if self.data.about.shards:
            from warlab.data.formats.shards import Pack

            return Pack(Path(self.data.about.shards))[int(self.data.arrays["train_i"][number])]
        sample = self.data.arrays["train_x"][number]
        return draw_numbers(sample) if self.data.about.samples == "vectors" else sample

    def pictures(self, numbers: Sequence[int], raw: Path, settings: Mapping[str, Any]) -> list[np.ndarray]:
        """Return samples as they were before the scale made them smaller, if their raw files are in the folder."""
        inserted = () if self.noise.replaced is None else set(self.noise.replaced.tolist())
        own = [number for number in numbers if number not in inserted]
        if self.data.about.samples != "images":
            return [self.picture(number) for number in numbers]
        originals = dict(zip(own, read_originals(self.data, raw, settings, own), strict=True))
        return [originals[number] if number in originals else self.picture(number) for number in numbers]

    def csv(self, rows: np.ndarray) -> str:
        """Return the text of suspects.csv: rows of `suspects` with names of samples and classes."""
        classes, buffer = self.data.about.class_names, io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in rows:
            number = int(row["index"])
            known = "" if self.wrong is None else "yes" if self.wrong[number] else "no"
            labels = [classes[row[kind]] for kind in ("label", "suggested")]
            writer.writerow([self.name(number), number, *labels, *(f"{row[name]:.6g}" for name in SCORES), known])
        return buffer.getvalue()

    def _place(self, number: int) -> tuple[int, np.ndarray, np.ndarray]:
        """Return the tile of an object, and the rows and columns of its pixels."""
        pixels = np.flatnonzero(self.object_of == number)
        sizes = self.data.arrays["train_sizes"]
        tile = int(np.searchsorted(starts(sizes), pixels[0], side="right")) - 1
        rows, columns = np.divmod(pixels - starts(sizes)[tile], sizes[tile, 1])
        return tile, rows, columns


def draw_numbers(values: np.ndarray) -> np.ndarray:
    """Draw a sample that is not an image as a square of grey values (1, side, side), the smallest black."""
    side = max(8, math.ceil(math.sqrt(values.size)))
    square = np.full(side * side, values.min(), np.float64)
    square[: values.size] = values.ravel()
    return (255 * (square - square.min()) / max(np.ptp(square), 1e-12)).astype(np.uint8).reshape(1, side, side)


def read_suspects(path: Path) -> list[dict[str, str]]:
    """Read the rows of a suspects.csv."""
    try:
        with path.open(newline="") as file:
            return list(csv.DictReader(file))
    except OSError as error:
        raise WarlabError(f"{path} cannot be read ({error.strerror}); make it: snakemake --cores all audit.") from error
