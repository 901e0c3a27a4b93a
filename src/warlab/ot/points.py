"""Points for classes, which are word vectors of their names or centroids of their samples, and the cost between them.

All informative costs follow one construction (large between classes that resemble each other):

    D[i, j] = || e_i - e_j ||_2,   m = D / max(D),   C = exp(-m),   C[i, i] = 0

The division by max(D) is in the authors' code and not in the paper; without it raw distances of 4 to 11 shrink the
costs to 1e-2 and below, and at lambda = 0.05 the plan degenerates to the independent coupling.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files as package_files
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from warlab.errors import WarlabError

ASSETS = ("assets/wordvectors/*.txt",)  # of the package; part of the digest of a cost
EMBEDDED_VECTORS = "glove_6b_100d_classes.txt"


def from_points(points: np.ndarray) -> np.ndarray:
    """Return the cost (C, C) between points (C, d)."""
    return from_distances(pairwise_distances(points))


def from_distances(distances: np.ndarray) -> np.ndarray:
    """Return exp(-D / max(D)) with zero diagonal."""
    largest = distances.max()
    if not largest > 0:
        raise WarlabError("All classes have the same representation, so no cost can tell them apart.")
    cost = np.exp(-distances / largest)
    np.fill_diagonal(cost, 0.0)
    return cost


def pairwise_distances(points: np.ndarray) -> np.ndarray:
    """Return Euclidean distances, computed row by row: a thousand classes need megabytes, not gigabytes."""
    return np.stack([np.linalg.norm(points - point, axis=1) for point in points])


def assets(folder: str) -> Path:
    return Path(str(package_files("warlab") / "assets" / folder))


def embedded_vectors() -> Path:
    return assets("wordvectors") / EMBEDDED_VECTORS


@cache
def _read_embedded() -> Mapping[str, np.ndarray]:
    """Read the vectors that come with warlab in single precision, as gensim does."""
    lines = embedded_vectors().read_text().splitlines()[1:]
    rows = [line.rstrip().split(" ") for line in lines]
    return {row[0]: np.array(row[1:], np.float32) for row in rows}


@cache
def _read_with_gensim(path: Path, binary: bool) -> Any:
    try:
        from gensim.models import KeyedVectors  # slow to import, and only these files need it
    except ModuleNotFoundError as error:
        raise WarlabError(
            "Files of word vectors are read by gensim; run pip install '.[words]' in the repository of warlab."
        ) from error
    try:
        return KeyedVectors.load_word2vec_format(str(path), binary=binary)
    except (OSError, ValueError, EOFError, UnicodeDecodeError) as error:
        raise WarlabError(
            f"Word vectors {path} cannot be read in word2vec format ({error}); check the path and `binary`."
        ) from error


def word_points(names: Sequence[str], vectors: Any = None, binary: bool = False) -> np.ndarray:
    """Return points (C, d) in double precision. `vectors` is a file, anything with `word in vectors` and
    `vectors[word]`, or None for the file that comes with warlab."""
    if vectors is None or isinstance(vectors, str | PathLike):
        path = Path(vectors) if vectors is not None else embedded_vectors()
        vectors, source = _read_embedded() if path == embedded_vectors() else _read_with_gensim(path, binary), path.name
    else:
        vectors, source = getattr(vectors, "wv", vectors), "the given vectors"  # `wv` of gensim's models
    if not hasattr(vectors, "__contains__") or not hasattr(vectors, "__getitem__"):
        raise WarlabError(
            f"vectors must map words to vectors, like a dict or gensim's KeyedVectors, not {type(vectors).__name__}."
        )
    points = [_word_vector(name, vectors, source) for name in names]
    if len({point.shape for point in points}) > 1 or points[0].ndim != 1:
        shapes = ", ".join(f"{name} {point.shape}" for name, point in zip(names, points, strict=True))
        raise WarlabError(f"The word vectors must all have the same length; in {source} they are {shapes}.")
    broken = [name for name, point in zip(names, points, strict=True) if not np.isfinite(point).all()]
    if broken:
        raise WarlabError(f"The vector of {broken[0]!r} in {source} has entries that are not finite numbers.")
    return np.stack(points)


def _word_vector(name: str, vectors: Any, source: str) -> np.ndarray:
    """Return the name itself if the model has it, else the mean of its words, else its words with hyphens: t-shirt."""
    for form in (name, name.lower()):
        if form in vectors:
            return np.asarray(vectors[form], dtype=np.float64)
    words = name.lower().replace("_", " ").replace("/", " ").split()
    missing = [word for word in words if word not in vectors]
    hyphenated = "-".join(words)
    if missing and hyphenated in vectors:
        return np.asarray(vectors[hyphenated], dtype=np.float64)
    if missing or not words:
        raise WarlabError(
            f"The word {(missing or [name])[0]!r} of class {name!r} is not in {source}; name other words for the "
            "class, another vector file, or another cost, such as centroid_cost or zero_one_cost of the library and "
            "embed (of images), ordinal (of ordered classes) or zero_one of the workflow."
        )
    return np.stack([np.asarray(vectors[word]) for word in words]).astype(np.float64).mean(0)


def class_centroids(points: np.ndarray, labels: np.ndarray, class_names: Sequence[str]) -> np.ndarray:
    """Return the mean (C, d) of the samples that carry each label, right or wrong."""
    counts = np.bincount(labels, minlength=len(class_names))
    if (counts == 0).any():
        empty = class_names[int(np.argmin(counts))]
        raise WarlabError(f"No training image is labelled {empty!r}, so it has no centroid for the embed cost.")
    flat = points.reshape(len(points), -1)
    # an unscaled unit, such as 255 for white, cancels in D / max(D)
    return np.stack([flat[labels == k].mean(0, dtype=np.float64) for k in range(len(counts))])
