"""Noisy labels that are not drawn here: those that people gave, and those of a file of the user's."""

from pathlib import Path

import numpy as np

from warlab.data import cifar_n
from warlab.data.base import choose, subset_seed
from warlab.errors import WarlabError
from warlab.files import read_json
from warlab.noise import HUMAN


def human_labels(clean: np.ndarray, dataset: str, noise: str, receipt: Path) -> np.ndarray:
    """The labels of CIFAR-N for the images of a scale, found again by the clean labels that CIFAR-N repeats."""
    home, key, _ = HUMAN[noise]
    if dataset != home:
        raise WarlabError(f"The noise {noise} is of {home}, not of {dataset}; take another noise.")
    labels = cifar_n.read(receipt.parent, dataset, read_json(receipt)["data"] == "real")
    part = choose(labels["clean_label"], len(clean), subset_seed(dataset), "training")
    if not np.array_equal(labels["clean_label"][part], clean):
        raise WarlabError(f"The clean labels of {receipt.parent} are not those of {dataset}; fetch both again.")
    return labels[key][part]


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
