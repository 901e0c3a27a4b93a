"""Noise from a file of the user: one label per training image, or a transition matrix to draw them from."""

import re
from pathlib import Path

import numpy as np

from warlab.artefacts.labelled_data import NoisyLabels
from warlab.common.files import file_digest
from warlab.errors import WarlabError
from warlab.ids import NoiseId
from warlab.noise.kinds.base import DataArrays, Files, NoiseKind, NoiseRequest
from warlab.noise.kinds.matrix import corrupt

_ID = re.compile(r"file(_[a-z0-9_]+)?", re.ASCII)


class FromFile(NoiseKind):
    """`file`, or `file_<name>` if a study has several."""

    def has(self, noise: NoiseId) -> bool:
        return _ID.fullmatch(str(noise)) is not None

    def name(self, noise: NoiseId) -> str:
        return "file"

    def label(self, noise: NoiseId) -> str:
        return " ".join([self.names["file"], *(f"({name})" for name in noise.kind.split("_", 1)[1:])])

    def needs(self, noise: NoiseId) -> dict[str, str]:
        return {"given": str(noise)}

    def make(self, request: NoiseRequest, data: DataArrays, files: Files) -> NoisyLabels:
        """The nominal rate of a file is its realised rate."""
        clean, path, classes = data["train_y"], files["given"], len(request.class_names)
        values, about = read_file(path), {"file": path.name, "file_sha256": file_digest(path)}
        if values.shape == (classes, classes):
            labels = corrupt(clean, values, request.rng())
            return self.noisy(request, clean, labels, values, rate=float(np.mean(clean != labels)), **about)
        labels = check_labels(values, len(clean), classes, path)
        return self.as_given(request, clean, labels, rate=float(np.mean(clean != labels)), **about)


def read_file(path: Path) -> np.ndarray:
    """Read numbers from a .npy file, or from a .csv file without a heading."""
    try:
        if path.suffix == ".npy":
            return np.load(path, allow_pickle=False)
        lines = [line for line in path.read_text("utf-8-sig").splitlines() if line.strip(" ,")]
        return np.loadtxt(lines, delimiter=",", ndmin=2)
    except (OSError, ValueError, EOFError) as error:
        reason = " ".join(str(error).split())
        raise WarlabError(
            f"The noise file {path} cannot be read ({reason}); give numbers as .npy, or as .csv without a heading."
        ) from error


def check_labels(values: np.ndarray, n: int, classes: int, path: Path) -> np.ndarray:
    """Return one label per training image, as whole numbers from 0."""
    flat = values.reshape(-1) if values.ndim == 1 or 1 in values.shape else values
    if flat.shape != (n,):
        raise WarlabError(
            f"{path} holds {values.shape} numbers; a noise file has one label for each of the {n} training images, "
            f"or a transition matrix of {classes} × {classes}."
        )
    if not np.isin(flat, np.arange(classes)).all():
        raise WarlabError(f"{path} holds other labels than the whole numbers from 0 to {classes - 1}; fix it.")
    return flat.astype(np.int64)


KIND = FromFile({"file": "own noise"}, rated=False)
