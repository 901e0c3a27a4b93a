"""The distilled word vectors: readable by gensim, complete for the paper's datasets, and sensible."""

import hashlib

import numpy as np
import pytest
from gensim.models import KeyedVectors

import warlab.data
from tests.conftest import ROOT
from tests.helpers.scripts import load

FOLDER = ROOT / "src" / "warlab" / "assets" / "wordvectors"
FILE = FOLDER / "glove_6b_100d_classes.txt"
OTHERS = """
    orchids poppies roses sunflowers tulips bottles bowls cans cups plates apples mushrooms oranges pears sweet_peppers
    computer_keyboard maple oak palm pine willow
    dog cat bird car bus banana sofa desk beach river forest highway airport"""  # superclasses, and folders of users


@pytest.fixture(scope="module")
def vectors() -> KeyedVectors:
    return KeyedVectors.load_word2vec_format(str(FILE), binary=False)


def missing(vectors: KeyedVectors, names: list[str]) -> list[str]:
    return [word for name in names for word in name.lower().replace("_", " ").split() if word not in vectors]


def test_the_file_is_small_and_is_what_its_readme_says(vectors):
    assert FILE.stat().st_size < 700_000
    assert len(vectors) <= 600
    assert vectors.vector_size == 100
    readme = (FOLDER / "README.md").read_text()
    assert hashlib.sha256(FILE.read_bytes()).hexdigest() in readme
    assert f"{len(vectors)} words" in readme


def test_every_class_name_has_its_words(vectors):
    assert missing(vectors, OTHERS.split()) == []
    # SVHN and ImageNet32 lend their images to open-set noise, and those of Sentiment have an order: no words here.
    for name in set(warlab.data.names()) - {"svhn", "imagenet32", "sentiment"}:
        assert missing(vectors, list(warlab.data.get(name).classes.words)) == [], name


def test_values_are_those_of_glove(vectors):
    """The first numbers and the norm of `cat` in the file glove.6B.100d.txt."""
    np.testing.assert_allclose(vectors["cat"][:4], [0.23088, 0.28283, 0.6318, -0.59411], rtol=1e-6)
    assert np.linalg.norm(vectors["cat"]) == pytest.approx(5.03931752, rel=1e-6)
    assert vectors.similarity("cat", "dog") == pytest.approx(0.8798, abs=1e-4)


def test_the_tool_lists_exactly_the_words_of_the_file(vectors):
    assert load("tools/distil_word_vectors.py").wanted_words() == vectors.index_to_key
