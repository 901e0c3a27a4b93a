"""Training images before a scale made them smaller, for pictures that people look at."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from warlab.artefacts.labelled_data import PreparedData
from warlab.data import get
from warlab.data.in_place import POINTER, place
from warlab.errors import WarlabError

SIZE = 112  # pixels of an image that is read from its own file


def read_originals(
    prepared: PreparedData, raw: Path, settings: Mapping[str, Any], numbers: Sequence[int]
) -> list[np.ndarray]:
    """Return training images by their numbers, uint8 (channels, height, width), as they are in the raw files; settings
    are those of `Dataset.prepare`. If the files are no longer there, return the images that were trained on."""
    small, names = prepared.arrays["train_x"], prepared.about.train_files or []
    try:
        files = _files(place(raw), names, numbers) if names and (raw / POINTER).is_file() else []
        if files and all(file.is_file() for file in files):
            from warlab.data.sets.image_folder import _decoded

            return [_decoded(file, SIZE, grey=len(small[0]) == 1) for file in files]
        if settings["pool"] > 1:
            whole = get(prepared.about.dataset).prepare(raw, {**settings, "pool": 1}).arrays
            if np.array_equal(whole["train_y"], prepared.arrays["train_y"]):
                small = whole["train_x"]
    except (OSError, WarlabError):
        pass  # of a user whose disk is not mounted
    return [small[number] for number in numbers]


def _files(place: Path, names: Sequence[str], numbers: Sequence[int]) -> list[Path]:
    """Return the files of images, which are relative to a folder, or to the folder of a list."""
    folder = place.parent if place.is_file() else place
    return [folder / names[number] for number in numbers]
