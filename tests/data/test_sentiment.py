"""The ratings of people in the authors' files: classes by their votes, parts without common documents, features."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

import warlab.data
from tests.helpers.artefacts import data_on_disk
from warlab.data.fetch import fetch
from warlab.data.formats.archives import read_tar
from warlab.data.sets import sentiment
from warlab.errors import WarlabError
from warlab.noise import make_noise
from warlab.noise.kinds.base import NoiseRequest


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sentiment")
    fetch(sentiment.DATASET, folder, "stand_in")
    return folder


def test_the_class_is_that_of_most_votes_and_neutral_where_two_are_level() -> None:
    votes = np.array([[5, 3, 2], [0, 1, 9], [4, 2, 4], [4, 4, 2], [1, 4, 4], [2, 7, 1]])
    assert sentiment.consensus(votes).tolist() == [0, 2, 1, 1, 1, 1]


def test_every_rating_is_read_and_belongs_to_its_text(root: Path) -> None:
    """The two files of a source may have different orders, as those of Amazon's reviews do."""
    texts = sentiment.read(root)
    assert len(texts) == 600 and all(one.votes.sum() == 10 for one in texts)
    names = [f"hutto_ICWSM_2014/tweets_{part}.txt" for part in ("GroundTruth", "anonDataRatings")]
    files = read_tar(root / "hutto_ICWSM_2014.tar.gz", names)
    lines = files[names[1]].decode().split("\r\n")[:-1]
    signs = [np.sign(json.loads(line.split("\t")[3])) for line in lines]
    assert [one.votes.tolist() for one in texts[:150]] == [[int((s == k).sum()) for k in (-1, 0, 1)] for s in signs]
    files[names[1]] = "\r\n".join(["\ufeff" + lines[-1], *lines[:-1], ""]).encode()  # and may begin with a mark
    again = list(sentiment._rated(files, "tweets"))
    assert all(one.text == two.text and (one.votes == two.votes).all() for one, two in zip(texts, again, strict=False))


def test_training_and_test_share_neither_documents_nor_texts(root: Path) -> None:
    texts = sentiment.read(root)
    copied = replaced = [one._replace(text=texts[0].text) if k % 50 == 0 else one for k, one in enumerate(texts)]
    training, test = sentiment.split(copied)
    assert not {one.document for one in training} & {one.document for one in test}
    assert not {tuple(sentiment.tokens(one.text)) for one in training} & {
        tuple(sentiment.tokens(one.text)) for one in test
    }
    assert 100 < len(test) <= 120 and len(training) + len(test) >= len(replaced) - 12


def test_features_are_those_of_sklearn_and_the_words_those_of_the_training(monkeypatch: pytest.MonkeyPatch) -> None:
    training = ["Good, good film!", "a bad film :-(", "the film", "Is it the best?", "bad bad the"]
    test = ["unseen words only", "a good film with unseen words :-("]
    monkeypatch.setattr(sentiment, "WORDS", 6)
    known = TfidfVectorizer(tokenizer=sentiment.tokens, token_pattern=None, lowercase=False)
    expected = known.fit(training)
    found, found_test = sentiment.tf_idf(training, test)
    columns = [known.vocabulary_[word] for word in ("film", "the", "bad", "!", ":-(", "?")]
    for texts, x in ((training, found), (test, found_test)):
        kept = expected.transform(texts).toarray()[:, columns]
        kept /= np.maximum(np.linalg.norm(kept, axis=1, keepdims=True), 1e-12)
        np.testing.assert_allclose(x, kept, atol=1e-6)
    assert not found_test[0].any()


def test_the_stand_in_is_learnt_and_its_raters_disagree(root: Path) -> None:
    spec = {"source": "stand_in", "train": 300}
    prepared = sentiment.DATASET.prepare(root, spec)
    arrays, about = data_on_disk(prepared)
    assert about["ordered"] and about["samples"] == "vectors" and len(arrays.train_votes) == 300
    centroids = np.stack([arrays.train_x[arrays.train_y == k].mean(0) for k in range(3)])
    assert ((arrays.test_x @ centroids.T).argmax(1) == arrays.test_y).mean() > 0.8
    request = NoiseRequest("sentiment", "raters", 0, about["class_names"], "stand-in")
    assert 0.1 < make_noise(request, prepared.arrays, {}).manifest.realised_rate < 0.4
    with pytest.raises(WarlabError, match="`pool` makes images smaller, and Sentiment are no images"):
        sentiment.DATASET.prepare(root, spec | {"pool": 2})


def test_other_files_are_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentiment, "_RATINGS", "GroundTruth")
    sentiment.stand_in(tmp_path, 0)
    with pytest.raises(WarlabError, match="is not the data of VADER"):
        sentiment.load(tmp_path)


@pytest.mark.slow
def test_the_real_files_have_the_known_rates(tmp_path: Path) -> None:
    dataset = warlab.data.get("sentiment")
    fetch(replace(dataset, sources=dataset.forms[0]), tmp_path, "real")  # the package alone, without GitHub
    texts = sentiment.read(tmp_path)
    assert len(texts) == 23_703
    arrays = dataset.prepare(tmp_path, {"source": "real"}).arrays
    assert arrays["train_x"].shape == (18_885, 2000) and len(arrays["test_y"]) == 4_797
    assert arrays["train_votes"].sum(1).min() == 15 and arrays["train_votes"].sum(1).max() == 99
    right = arrays["train_votes"][np.arange(18_885), arrays["train_y"]] / arrays["train_votes"].sum(1)
    assert round(1 - right.mean(), 3) == 0.159
    votes = np.stack([one.votes for one in texts])
    wrong = 1 - votes[np.arange(len(texts)), sentiment.consensus(votes)] / votes.sum(1)
    source = np.array([one.document.split()[0] for one in texts])
    assert [round(float(wrong[source == name].mean()), 2) for name in sentiment.TEXTS] == [0.18, 0.29, 0.13, 0.10]
