"""Sentiment: 23 703 tweets, sentences of news and of reviews, each rated by 15 to 99 people (Hutto and Gilbert, 2014).

A rating is a number from -4 to 4; its sign is a vote for one of three classes. The class of a text is that of most
votes, and neutral where two have as many. A fifth of the documents is for the test. A document is an article or a
review of a product, whose sentences stay together; a tweet or a snippet of a film review is one by itself. Texts of the
test that are also among the training texts are left out.

A text is the vector of its words: the 2000 words that are in most of the training texts, weighted by
tf · (1 + log((1 + n) / (1 + df))) and scaled to length 1; n and df count training texts.
"""

import io
import json
import re
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from warlab.common.files import write_atomic
from warlab.common.seeds import derive_seed
from warlab.data.base import Classes, Package, Source
from warlab.data.formats.archives import read_tar, read_zip
from warlab.data.images_in_memory import Arrays, VectorsInMemory
from warlab.data.synthetic.patterns import shuffled_labels
from warlab.errors import WarlabError

CLASSES = ("negative", "neutral", "positive")
TEXTS = ("tweets", "nytEditorialSnippets", "amazonReviewSnippets", "movieReviewSnippets")
WORDS = 2000
_FOLDER = "hutto_ICWSM_2014"
_RATINGS, _TEXT = "anonDataRatings", "GroundTruth"
_MOST = 100_000_000
_TAR = Source(
    "hutto_ICWSM_2014.tar.gz",
    (
        "https://raw.githubusercontent.com/cjhutto/vaderSentiment/fb3a8a5d899a8e71cd4872110c28f0d8783bdd4a/"
        "additional_resources/hutto_ICWSM_2014.tar.gz",
    ),
    "d5bb07d87474b3eb8d30b4deccbc23f19d742a6c5718fbacc65485b70b95c5fa",
    2_338_514,
)
_ZIP = Source("vaderSentiment-0.5.zip", checksum="5d97c37f3ef6e24eef331122e055dbedafeb6a56abfce0608b326701116ea49a")


class Rated(NamedTuple):
    """A text, the document that it is from, and how many people chose each class."""

    document: str
    text: str
    votes: np.ndarray


def load(root: Path) -> Arrays:
    """Read the authors' archive, or the package that contains it."""
    training, test = split(read(root))
    train_x, test_x = tf_idf([one.text for one in training], [one.text for one in test])
    votes, test_votes = (np.stack([one.votes for one in part]) for part in (training, test))
    return Arrays(train_x, consensus(votes), test_x, consensus(test_votes), votes)


def read(root: Path) -> list[Rated]:
    path = root / _TAR.file
    if not path.is_file():
        path = root / _ZIP.file
        content = io.BytesIO(read_zip(path, f"vaderSentiment-0.5/additional_resources/{_TAR.file}", _MOST))
    else:
        content = io.BytesIO(path.read_bytes())
    names = [f"{_FOLDER}/{name}_{part}.txt" for name in TEXTS for part in (_TEXT, _RATINGS)]
    files = read_tar(content, names, _MOST)
    try:
        return [one for name in TEXTS for one in _rated(files, name)]
    except (ValueError, KeyError) as error:
        raise WarlabError(f"{path} is not the data of VADER ({error}); fetch it again.") from error


def _rated(files: dict[str, bytes], name: str) -> Iterator[Rated]:
    """The first column of both files is the number of a text, such as 12_3 for the third sentence of document 12."""
    ratings = {number: values for number, _, _, values in _rows(files[f"{_FOLDER}/{name}_{_RATINGS}.txt"])}
    for number, _, text in _rows(files[f"{_FOLDER}/{name}_{_TEXT}.txt"]):
        signs = np.sign(json.loads(ratings[number])).astype(int)
        yield Rated(f"{name} {number.split('_')[0]}", text, np.bincount(signs + 1, minlength=3))


def _rows(content: bytes) -> list[list[str]]:
    text = content.decode("utf-8-sig").replace("\r\n", "\n")
    return [line.split("\t") for line in text.split("\n") if line]


def consensus(votes: np.ndarray) -> np.ndarray:
    """Return the class with most votes, neutral where two have as many: (N, 3) → (N,)"""
    level = (votes == votes.max(1, keepdims=True)).sum(1) > 1
    return np.where(level, CLASSES.index("neutral"), votes.argmax(1)).astype(np.int64)


def split(texts: list[Rated]) -> tuple[list[Rated], list[Rated]]:
    """Return texts for training and test, which share neither a document nor a text."""
    documents = list(dict.fromkeys(one.document for one in texts))
    order = np.random.default_rng(derive_seed("split", "sentiment")).permutation(len(documents))
    tested = {documents[number] for number in order[: len(documents) // 5]}
    training = [one for one in texts if one.document not in tested]
    known = {tuple(tokens(one.text)) for one in training}
    return training, [one for one in texts if one.document in tested and tuple(tokens(one.text)) not in known]


def tokens(text: str) -> list[str]:
    """Words in lower case, question and exclamation marks, and signs that stand alone, such as :-)"""
    return re.findall(r"[a-z0-9@][a-z0-9'@_]*|[!?]|[^\sa-z0-9!?,.\"'@]{2,}", text.lower())


def tf_idf(training: list[str], test: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return float32 (N, words) of both parts; words and weights are those of the training texts alone."""
    split_texts = [tokens(text) for text in training]
    counts = Counter(word for words in split_texts for word in set(words))
    kept = sorted(counts, key=lambda word: (-counts[word], word))[:WORDS]
    column = {word: number for number, word in enumerate(kept)}
    weights = 1 + np.log((1 + len(training)) / (1 + np.array([counts[word] for word in kept])))

    def vectors(texts: list[list[str]]) -> np.ndarray:
        x = np.zeros((len(texts), len(kept)), np.float32)
        for row, words in zip(x, texts, strict=True):
            for word in words:
                if word in column:
                    row[column[word]] += weights[column[word]]
        return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)

    return vectors(split_texts), vectors([tokens(text) for text in test])


def stand_in(root: Path, seed: int, n: int = 150) -> None:
    """Write sentences of a few words for each class, three to a document, with the signs of ten raters each."""
    rng = np.random.default_rng(seed)
    words = np.array([f"{name}{number}" for name in (*CLASSES, "any") for number in range(8)]).reshape(4, 8)
    members: dict[str, bytes] = {}
    for name in TEXTS:
        texts, ratings = [], []
        for k, label in enumerate(shuffled_labels(n, 3, rng)):
            number = f"{k // 3}_{k % 3}"
            chosen = np.concatenate([rng.choice(words[label], 3), rng.choice(words[3], 5)])
            signs = np.where(rng.random(10) < 0.7, label, rng.integers(0, 3, 10)) - 1
            texts.append(f"{number}\t{signs.mean()}\t{' '.join(rng.permutation(chosen))}\r\n")
            ratings.append(f"{number}\t{signs.mean()}\t{signs.std()}\t{signs.tolist()}\r\n")
        for part, lines in ((_TEXT, texts), (_RATINGS, ratings)):
            members[f"{_FOLDER}/{name}_{part}.txt"] = "".join(lines).encode()

    def write(file: object) -> None:
        with tarfile.open(fileobj=file, mode="w") as archive:  # type: ignore[call-overload]
            for name, content in members.items():
                about = tarfile.TarInfo(name)
                about.size = len(content)
                archive.addfile(about, io.BytesIO(content))

    write_atomic(root / _TAR.file, write)


DATASET = VectorsInMemory(
    name="sentiment",
    title="Sentiment",
    classes=Classes(CLASSES, ordered=True),
    images=(18_885, 4_797),
    licence="MIT (C. J. Hutto, 2014)",
    homepage="https://github.com/cjhutto/vaderSentiment",
    load=load,
    stand_in=stand_in,
    sources=(_TAR,),
    forms=((_ZIP,),),
    packages=(Package("PyPI", "vaderSentiment==0.5", ".", sha256=_ZIP.checksum),),
)
