"""The ground costs of the workflow by name: C[i, j] is what it costs to move probability from class i to class j.

How a cost is made of points is in `warlab.ot.points`; outside of the workflow call the helpers of `warlab.ot.ground`.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from warlab.common.files import file_digest
from warlab.common.seeds import derive_seed
from warlab.data.sets import _cifar100_names
from warlab.errors import WarlabError
from warlab.ot.costfile import read_cost
from warlab.ot.points import (
    assets,
    class_centroids,
    embedded_vectors,
    from_distances,
    load_vectors,
    pairwise_distances,
    word_points,
)

ASSETS = ("assets/ground_costs/*.csv",)  # part of the fingerprint of a cost
PUBLISHED = "published"  # as `vectors` of the cost w2v


@dataclass(frozen=True)
class CostInputs:
    """What a cost may be computed from; the images and noisy labels only by the costs in `READS_LABELS`."""

    class_names: Sequence[str]
    words: Sequence[str]
    images: np.ndarray | None = None
    labels: np.ndarray | None = None
    vectors: np.ndarray | None = None  # features (N, d) of the images, where a network made them


READS_LABELS = ("embed",)  # these are made anew for every noise and seed
USER_FILES = ("path", "vectors")  # settings that name a file of the user's
FEATURES = ("pixels", "resnet18", "efficientnet_lite0")  # of the embed cost


def kinds() -> list[str]:
    return sorted(_MAKERS)


def make_cost(kind: str, inputs: CostInputs, settings: dict[str, Any]) -> tuple[np.ndarray, dict[str, Any]]:
    """The cost matrix (C, C) in float64 and where it came from."""
    if kind not in _MAKERS:
        raise WarlabError(f"There is no ground cost {kind!r}; known are {', '.join(kinds())}.")
    cost, source = _MAKERS[kind](inputs, **settings)
    return cost, {"cost": kind, "settings": settings, **source}


def zero_one(inputs: CostInputs) -> tuple[np.ndarray, dict[str, Any]]:
    """1 - I: transport becomes the total variation."""
    return 1.0 - np.eye(len(inputs.class_names)), {"source": "1 off the diagonal"}


def w2v(
    inputs: CostInputs, vectors: str | None = None, binary: bool = False, order: str = "labels"
) -> tuple[np.ndarray, dict[str, Any]]:
    """From word vectors of the class names; a name of several words is the mean of their vectors.

    `vectors` is "published" for the cost of the vectors that the authors published, or a file in word2vec format for
    gensim (GoogleNews: binary; GloVe 300-d converted to text); without it the distilled GloVe 100-d vectors that come
    with warlab are used. `order` is labels, or listing for the rows of CIFAR-100 as the authors' code has them: in the
    order of its superclasses, not of its labels.
    """
    words = _in_order(inputs, order)
    if vectors == PUBLISHED:
        return _published(words)
    path = Path(vectors) if vectors else embedded_vectors()
    points = word_points(words, load_vectors(path, binary), path.name)
    source = {"source": f"word vectors {path.name}", "vectors_sha256": file_digest(path), "words": list(words)}
    return from_distances(pairwise_distances(points)), source


def _published(words: Sequence[str]) -> tuple[np.ndarray, dict[str, Any]]:
    """The one published cost that has all of these classes, its rows and columns found by name."""
    for path in sorted(assets("ground_costs").glob("*.csv")):
        cost, place = _table(path)
        if set(place) == {_plain(word) for word in words}:
            rows = [place[_plain(word)] for word in words]
            source = f"published cost {path.name}: GloVe, Common Crawl, 300 dimensions, by the authors of WAR"
            return cost[np.ix_(rows, rows)], {"source": source, "file_sha256": file_digest(path), "words": list(words)}
    raise WarlabError(
        f"No published ground cost has the classes {', '.join(words[:5])} …; set its `vectors` to null or a file."
    )


def _table(path: Path) -> tuple[np.ndarray, dict[str, int]]:
    """The matrix of a file, its rows put in the order of its columns, and the column of every class."""
    with path.open(newline="") as file:
        head, *rows = csv.reader(file)
    found = {_plain(row[0]): [float(entry) for entry in row[1:]] for row in rows}
    place = {_plain(name): number for number, name in enumerate(head[1:])}
    return np.array([found[name] for name in place]), place


def _plain(name: str) -> str:
    return " ".join(name.lower().replace("-", " ").replace("_", " ").split())


def _in_order(inputs: CostInputs, order: str) -> Sequence[str]:
    if order == "labels":
        return inputs.words
    if order != "listing" or tuple(inputs.class_names) != _cifar100_names.NAMES:
        raise WarlabError(f"The order {order!r} of words is unknown here: labels, or listing for CIFAR-100.")
    return [_cifar100_names.word(name) for members in _cifar100_names.SUPERCLASSES for name in members]


def embed(inputs: CostInputs, features: str = "pixels", size: int = 224) -> tuple[np.ndarray, dict[str, Any]]:
    """From class centroids of the training images under their NOISY labels.

    `features` are those of a ResNet-18 that was trained on ImageNet (paper) or of an EfficientNet-lite0, for images of
    `size` × `size`; or pixels (paper, Fashion-MNIST).
    """
    if features not in FEATURES:
        raise WarlabError(f"The embed cost knows the features {', '.join(FEATURES)}, not {features!r}.")
    points = inputs.images if features == "pixels" else inputs.vectors
    if points is None or inputs.labels is None:
        raise WarlabError(f"The embed cost needs the {features} of the training images and their noisy labels.")
    centroids = class_centroids(points, inputs.labels, inputs.class_names)
    seen = "pixels" if features == "pixels" else f"features of {features} at {size} × {size}"
    return from_distances(pairwise_distances(centroids)), {"source": f"centroids of {seen} under the noisy labels"}


def random(inputs: CostInputs, seed: int = 0, variant: str = "abs_sym") -> tuple[np.ndarray, dict[str, Any]]:
    """Standard normal entries with zero diagonal: `raw` as drawn (signed), `abs_sym` = (|G| + |G|^T) / 2."""
    if variant not in ("raw", "abs_sym"):
        raise WarlabError(f"A random cost is raw or abs_sym, not {variant!r}.")
    n = len(inputs.class_names)
    cost = np.random.default_rng(derive_seed("random cost", n, seed)).standard_normal((n, n))
    if variant == "abs_sym":
        cost = (np.abs(cost) + np.abs(cost).T) / 2
    np.fill_diagonal(cost, 0.0)
    return cost, {"source": f"standard normal, seed {seed}, {variant}"}


def file(inputs: CostInputs, path: str | None = None) -> tuple[np.ndarray, dict[str, Any]]:
    """The user's own matrix: a CSV with the class names as header and first column."""
    if path is None:
        raise WarlabError("The cost `file` needs a path; give it as overrides: {costs: {file: {path: my.csv}}}.")
    return read_cost(Path(path), inputs.class_names), {
        "source": f"file {path}",
        "file_sha256": file_digest(Path(path)),
    }


_MAKERS: dict[str, Any] = {
    "zero_one": zero_one,
    "w2v": w2v,
    "embed": embed,
    "random": random,
    "file": file,
}
