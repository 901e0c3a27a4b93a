"""Labels that people gave: those of CIFAR-N for the images of a scale."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from warlab.common.files import read_json
from warlab.data.base import choose, subset_seed
from warlab.data.resources import cifar_n
from warlab.errors import WarlabError
from warlab.noise import HUMAN
from warlab.noise.base import Made, Wanted


def make(wanted: Wanted, data: Mapping[str, np.ndarray], files: Mapping[str, Path]) -> Made:
    clean = data["train_y"]
    labels = human_labels(clean, wanted.dataset, wanted.noise, files["human"])
    return {"labels": labels}, wanted.given(clean, labels)


def human_labels(clean: np.ndarray, dataset: str, noise: str, receipt: Path) -> np.ndarray:
    """Found again by the clean labels, which CIFAR-N repeats."""
    home, key, _ = HUMAN[noise]
    if dataset != home:
        raise WarlabError(f"The noise {noise} is of {home}, not of {dataset}; take another noise.")
    labels = cifar_n.read(receipt.parent, dataset, read_json(receipt)["data"] == "real")
    part = choose(labels["clean_label"], len(clean), subset_seed(dataset), "training")
    if not np.array_equal(labels["clean_label"][part], clean):
        raise WarlabError(f"The clean labels of {receipt.parent} are not those of {dataset}; fetch both again.")
    return labels[key][part]
