"""Noise on objects: whole connected components of the ground truth change to another, plausible class.

An object is a component of equal label (8-connectivity) inside one tile. The paper changes one third of them and gives
one example (a car may become an impervious surface, never a building or a tree); the map `flips` is our reading of it.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from warlab import data as datasets
from warlab.artefacts.labelled_data import NoisyLabels, ObjectCounts
from warlab.data.formats.flat_tiles import EIGHT, unflat
from warlab.errors import WarlabError
from warlab.ids import NoiseId
from warlab.noise.kinds.base import DataArrays, Files, NoiseKind, NoiseRequest


class ChangedObjects(NoiseKind):
    def check(self, noise: NoiseId, dataset: str) -> None:
        if datasets.get(dataset).samples != "tiles":
            raise WarlabError(f"The noise {noise} needs maps, and {dataset} has single labels; choose another noise.")

    def make(self, request: NoiseRequest, data: DataArrays, files: Files) -> NoisyLabels:
        """Return the training tiles' labels; test tiles are never touched."""
        if "train_sizes" not in data:
            raise WarlabError(f"The noise {request.noise} needs maps, and {request.dataset} has single labels.")
        clean, names = data["train_y"], request.class_names
        chances = flip_chances(request.settings["flips"], names, probability(request.id))
        labels, rng = clean.copy(), request.rng()
        counts = np.zeros((2, len(names)), int)  # all objects and the changed ones, by their true class
        for truth, noisy in zip(unflat(clean, data["train_sizes"]), unflat(labels, data["train_sizes"]), strict=True):
            counts += corrupt_objects(truth, noisy, chances, rng)
        per_class = {name: {"objects": int(n), "changed": int(m)} for name, n, m in zip(names, *counts, strict=True)}
        total, changed = counts.sum(1).tolist()
        objects = ObjectCounts(total, changed, realised_share=changed / max(1, total), per_class=per_class)
        return self.noisy(request, clean, labels, chances, objects=objects)


def probability(noise: NoiseId) -> float:
    """objects-33 is the paper's "one third", not 33 percent."""
    return 1 / 3 if noise.rate == 0.33 else noise.rate


def flip_chances(flips: Mapping[str, Sequence[str]], names: Sequence[str], chance: float) -> np.ndarray:
    """(C, C): the probability that an object of class i becomes j, the same for all plausible classes of i."""
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
    """Write the new classes into `noisy` (H, W) and return (2, C): objects and changed objects per true class."""
    from scipy import ndimage  # slow to import, and the plan of every study reads this module

    counts = np.zeros((2, len(chances)), int)
    for label, row in enumerate(chances):
        components, n = ndimage.label(truth == label, EIGHT)
        drawn = rng.choice(len(chances), size=n, p=row)
        counts[:, label] = n, (drawn != label).sum()
        where = components > 0
        noisy[where] = drawn[components[where] - 1]
    return counts


KIND = ChangedObjects({"objects": "of all objects"})
