"""Noise on objects: whole connected components of the ground truth get another, plausible class.

An object is a component of equal label (8-connectivity) inside one tile. The paper changes one third of them and gives
one example (a car may become an impervious surface, never a building or a tree); the map `flips` is our reading of it.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import ndimage

from warlab.data.formats.tiles import EIGHT, unflat
from warlab.errors import WarlabError
from warlab.noise import parse
from warlab.noise.base import Made, Wanted


def make(wanted: Wanted, data: Mapping[str, np.ndarray], files: Mapping[str, Path]) -> Made:
    """The training tiles' labels; test tiles are never touched."""
    if "train_sizes" not in data:
        raise WarlabError(f"The noise {wanted.noise} needs maps, and {wanted.dataset} has single labels.")
    clean = data["train_y"]
    chances = flip_chances(wanted.settings["flips"], wanted.class_names, probability(wanted.noise))
    labels = clean.copy()
    counts = np.zeros((2, len(wanted.class_names)), int)  # all objects and the changed ones, by their true class
    rng = wanted.rng()
    for truth, noisy in zip(unflat(clean, data["train_sizes"]), unflat(labels, data["train_sizes"]), strict=True):
        counts += corrupt_objects(truth, noisy, chances, rng)
    manifest = wanted.manifest(clean, labels, chances)
    return {"labels": labels}, manifest | {"objects": describe(counts, wanted.class_names)}


def probability(noise_id: str) -> float:
    """objects-33 is the paper's "one third", not 33 percent."""
    _, rate = parse(noise_id)
    return 1 / 3 if rate == 0.33 else rate


def flip_chances(flips: Mapping[str, Sequence[str]], names: Sequence[str], chance: float) -> np.ndarray:
    """(C, C): how likely an object of class i becomes j; every plausible class is equally likely, none is: it stays."""
    unknown = {name for source, targets in flips.items() for name in (source, *targets)} - set(names)
    if unknown:
        raise WarlabError(f"noise.objects.flips names {min(unknown)!r}; the classes are {', '.join(names)}.")
    matrix = np.eye(len(names))
    for source, targets in flips.items():
        row = names.index(source)
        if source in targets:
            raise WarlabError(f"noise.objects.flips turns {source!r} into itself; name other classes.")
        if targets:
            matrix[row, row] = 1 - chance
            matrix[row, [names.index(target) for target in targets]] = chance / len(targets)
    return matrix


def corrupt_objects(truth: np.ndarray, noisy: np.ndarray, chances: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Write the new classes into `noisy` (H, W); (2, C) objects and changed objects per true class."""
    counts = np.zeros((2, len(chances)), int)
    for label, row in enumerate(chances):
        components, n = ndimage.label(truth == label, EIGHT)
        given = rng.choice(len(chances), size=n, p=row)
        counts[:, label] = n, (given != label).sum()
        where = components > 0
        noisy[where] = given[components[where] - 1]
    return counts


def describe(counts: np.ndarray, names: Sequence[str]) -> dict[str, Any]:
    """Realised shares; that of the pixels is the manifest's realised_rate."""
    per_class = {name: {"objects": int(n), "changed": int(m)} for name, n, m in zip(names, *counts, strict=True)}
    return {
        "objects": int(counts[0].sum()),
        "changed": int(counts[1].sum()),
        "realised_share": float(counts[1].sum() / max(1, counts[0].sum())),
        "per_class": per_class,
    }
