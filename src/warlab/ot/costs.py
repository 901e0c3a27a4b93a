"""Ground costs between classes: C[i, j] is what it costs to move probability from class i to class j.

All informative costs follow one construction (large between classes that resemble each other):

    D[i, j] = || e_i - e_j ||_2,   m = D / max(D),   C = exp(-m),   C[i, i] = 0

The division by max(D) is in the authors' code and not in the paper; without it raw distances of 4 to 11 shrink the
costs to 1e-2 and below, and at lambda = 0.05 the plan degenerates to the independent coupling.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any

import numpy as np

from warlab.data import cifar100_names
from warlab.errors import WarlabError
from warlab.files import derive_seed, file_digest
from warlab.ot.costfile import read_cost

ASSETS = ("assets/wordvectors/*.txt",)  # of the package; part of the fingerprint of a cost
EMBEDDED_VECTORS = "glove_6b_100d_classes.txt"


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


def from_distances(distances: np.ndarray) -> np.ndarray:
    """exp(-D / max(D)) with zero diagonal."""
    largest = distances.max()
    if not largest > 0:
        raise WarlabError("All classes have the same representation, so no cost can tell them apart.")
    cost = np.exp(-distances / largest)
    np.fill_diagonal(cost, 0.0)
    return cost


def pairwise_distances(points: np.ndarray) -> np.ndarray:
    return np.linalg.norm(points[:, None, :] - points[None, :, :], axis=2)


def zero_one(inputs: CostInputs) -> tuple[np.ndarray, dict[str, Any]]:
    """1 - I: transport becomes the total variation."""
    return 1.0 - np.eye(len(inputs.class_names)), {"source": "1 off the diagonal"}


def w2v(
    inputs: CostInputs, vectors: str | None = None, binary: bool = False, order: str = "labels"
) -> tuple[np.ndarray, dict[str, Any]]:
    """From word vectors of the class names; a name of several words is the mean of their vectors.

    `vectors` is a file in word2vec format for gensim (GoogleNews: binary; GloVe 300-d converted to text); without
    it the distilled GloVe 100-d vectors that come with warlab are used. `order` is labels, or listing for the rows of
    CIFAR-100 as the authors' code has them: in the order of its superclasses, not of its labels.
    """
    path = Path(vectors) if vectors else _embedded_vectors()
    words = _in_order(inputs, order)
    points = np.stack([_word_vector(name, _load_vectors(path, binary), path) for name in words])
    source = {"source": f"word vectors {path.name}", "vectors_sha256": file_digest(path), "words": list(words)}
    return from_distances(pairwise_distances(points)), source


def _in_order(inputs: CostInputs, order: str) -> Sequence[str]:
    if order == "labels":
        return inputs.words
    if order != "listing" or tuple(inputs.class_names) != cifar100_names.NAMES:
        raise WarlabError(f"The order {order!r} of words is unknown here: labels, or listing for CIFAR-100.")
    return [cifar100_names.word(name) for members in cifar100_names.SUPERCLASSES for name in members]


def _embedded_vectors() -> Path:
    return Path(str(package_files("warlab") / "assets" / "wordvectors" / EMBEDDED_VECTORS))


_LOADED: dict[Path, Any] = {}


def _load_vectors(path: Path, binary: bool) -> Any:
    from gensim.models import KeyedVectors  # slow to import, and only this cost needs it

    if path not in _LOADED:
        try:
            _LOADED[path] = KeyedVectors.load_word2vec_format(str(path), binary=binary)
        except (OSError, ValueError, EOFError, UnicodeDecodeError) as error:
            raise WarlabError(
                f"Word vectors {path} cannot be read in word2vec format ({error}); check the path and `binary`."
            ) from error
    return _LOADED[path]


def _word_vector(name: str, vectors: Any, path: Path) -> np.ndarray:
    """The name itself if the model has it, else the mean of its words."""
    for form in (name, name.lower()):
        if form in vectors:
            return np.asarray(vectors[form], dtype=np.float64)
    words = name.lower().replace("_", " ").replace("/", " ").split()
    missing = [word for word in words if word not in vectors]
    if missing or not words:
        raise WarlabError(
            f"The word {(missing or [name])[0]!r} of class {name!r} is not in {path.name}; name other words for the "
            "class, another vector file, or another cost."
        )
    return np.stack([vectors[word] for word in words]).astype(np.float64).mean(0)


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
    counts = np.bincount(inputs.labels, minlength=len(inputs.class_names))
    if (counts == 0).any():
        empty = inputs.class_names[int(np.argmin(counts))]
        raise WarlabError(f"No training image is labelled {empty!r}, so it has no centroid for the embed cost.")
    flat = points.reshape(len(points), -1)
    # an unscaled unit, such as 255 for white, cancels in D / max(D)
    centroids = np.stack([flat[inputs.labels == k].mean(0, dtype=np.float64) for k in range(len(counts))])
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
