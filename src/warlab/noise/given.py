"""Noise of the user's own, from a file: one label per training image, or a transition matrix to draw them from."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from warlab.common.files import file_digest
from warlab.errors import WarlabError
from warlab.noise.base import Made, Wanted
from warlab.noise.inject import corrupt


def make(wanted: Wanted, data: Mapping[str, np.ndarray], files: Mapping[str, Path]) -> Made:
    """The rate of a file is the one that it turns out to have."""
    clean, path, classes = data["train_y"], files["given"], len(wanted.class_names)
    values = read_file(path)
    if values.shape == (classes, classes):
        labels = corrupt(clean, values, wanted.rng())
        manifest = wanted.manifest(clean, labels, values)
    else:
        labels = labels_of(values, len(clean), classes, path)
        manifest = wanted.given(clean, labels)
    manifest |= {"rate": manifest["realised_rate"], "file": path.name, "file_sha256": file_digest(path)}
    return {"labels": labels}, manifest


def read_file(path: Path) -> np.ndarray:
    """Numbers of a .npy file, or of a .csv file without a heading."""
    try:
        if path.suffix == ".npy":
            return np.load(path, allow_pickle=False)
        return np.loadtxt(path, delimiter=",", ndmin=2)
    except (OSError, ValueError, EOFError) as error:
        reason = " ".join(str(error).split())
        raise WarlabError(
            f"The noise file {path} cannot be read ({reason}); give numbers as .npy, or as .csv without a heading."
        ) from error


def labels_of(values: np.ndarray, n: int, classes: int, path: Path) -> np.ndarray:
    """One label per training image, as whole numbers from 0."""
    flat = values.reshape(-1) if values.ndim == 1 or 1 in values.shape else values
    if flat.shape != (n,):
        raise WarlabError(
            f"{path} holds {values.shape} numbers; a noise file has one label for each of the {n} training images, "
            f"or a transition matrix of {classes} × {classes}."
        )
    if not np.isin(flat, np.arange(classes)).all():
        raise WarlabError(f"{path} holds other labels than the whole numbers from 0 to {classes - 1}; correct it.")
    return flat.astype(np.int64)
