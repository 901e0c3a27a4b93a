"""A cost from word vectors of the class names; a name of several words is the mean of their vectors.

`vectors` is "published" for the cost of the vectors that the authors published, or a file in word2vec format for
gensim (GoogleNews: binary; GloVe 300-d converted to text); without it the distilled GloVe 100-d vectors that come
with warlab are used. `order` is labels, or listing for the rows of CIFAR-100 as the authors' code has them: in the
order of its superclasses, not of its labels.
"""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from warlab.common.files import file_digest
from warlab.data.sets import _cifar100_names
from warlab.errors import WarlabError
from warlab.ot.costs import PUBLISHED
from warlab.ot.costs.base import CostInputs, Made, Origin
from warlab.ot.points import assets, embedded_vectors, from_points, word_points

ASSETS = ("assets/ground_costs/*.csv",)  # part of the digest of a cost
USER_FILES = ("vectors",)


def make(inputs: CostInputs, vectors: str | None = None, binary: bool = False, order: str = "labels") -> Made:
    words = _order_words(inputs, order)
    if vectors == PUBLISHED:
        return _find_published(words)
    path = Path(vectors) if vectors else embedded_vectors()
    cost = from_points(word_points(words, path, binary))
    return cost, Origin(f"word vectors {path.name}", vectors_sha256=file_digest(path), words=list(words))


def _find_published(words: Sequence[str]) -> Made:
    """Return the published cost that has exactly these classes, with rows and columns in their order."""
    for path in sorted(assets("ground_costs").glob("*.csv")):
        cost, columns = _read_table(path)
        if set(columns) == {_normalise(word) for word in words}:
            order = [columns[_normalise(word)] for word in words]
            source = f"published cost {path.name}: GloVe, Common Crawl, 300 dimensions, by the authors of WAR"
            return cost[np.ix_(order, order)], Origin(source, file_sha256=file_digest(path), words=list(words))
    raise WarlabError(
        f"No published ground cost has the classes {', '.join(words[:5])} …; set its `vectors` to null or a file."
    )


def _read_table(path: Path) -> tuple[np.ndarray, dict[str, int]]:
    """Return the matrix of a file, with its rows in the order of its columns, and the column of every class."""
    with path.open(newline="") as file:
        head, *rows = csv.reader(file)
    by_name = {_normalise(row[0]): [float(entry) for entry in row[1:]] for row in rows}
    columns = {_normalise(name): number for number, name in enumerate(head[1:])}
    return np.array([by_name[name] for name in columns]), columns


def _normalise(name: str) -> str:
    return " ".join(name.lower().replace("-", " ").replace("_", " ").split())


def _order_words(inputs: CostInputs, order: str) -> Sequence[str]:
    if order == "labels":
        return inputs.words
    if order != "listing" or tuple(inputs.class_names) != _cifar100_names.NAMES:
        raise WarlabError(f"The order of words must be labels, or listing for CIFAR-100, not {order!r}.")
    return [_cifar100_names.word(name) for members in _cifar100_names.SUPERCLASSES for name in members]
