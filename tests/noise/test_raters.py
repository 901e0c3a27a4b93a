"""One rater's label for each sample: drawn from the votes for that sample, and from nothing else."""

from pathlib import Path

import numpy as np
import pytest

import warlab.data
from tests.helpers.artefacts import described
from warlab.artefacts.labelled_data import PreparedData
from warlab.data.fetch import fetch
from warlab.errors import WarlabError
from warlab.noise import check, make_noise
from warlab.noise.kinds.base import NoiseRequest

VOTES = np.repeat([[7, 3, 0], [0, 10, 0], [1, 1, 8]], 3000, axis=0)
CLEAN = np.repeat([0, 1, 2], 3000)


def draw(seed: int = 0, votes: np.ndarray = VOTES, noise: str = "raters"):
    request = NoiseRequest("rated", noise, seed, list("abc"), "real")
    return make_noise(request, {"train_x": np.zeros((len(CLEAN), 1)), "train_y": CLEAN, "train_votes": votes}, {})


def test_labels_are_drawn_from_the_votes_of_their_sample() -> None:
    made = draw()
    manifest = made.manifest
    np.testing.assert_allclose(manifest.transition, [[0.7, 0.3, 0], [0, 1, 0], [0.1, 0.1, 0.8]])
    np.testing.assert_allclose(manifest.realised_transition, manifest.transition, atol=5 * np.sqrt(0.25 / 3000))
    assert (VOTES[np.arange(len(CLEAN)), made.labels] > 0).all()  # nobody's label is never drawn
    assert manifest.rate == pytest.approx(0.5 / 3) and manifest.realised_rate == np.mean(made.labels != CLEAN)
    assert manifest.kind == "raters" and manifest.rng_seed is not None
    np.testing.assert_array_equal(made.labels, draw().labels)
    assert (made.labels != draw(1).labels).any()
    swapped = VOTES[np.random.default_rng(0).permutation(len(VOTES))]  # the votes decide, not the true class
    assert (swapped[np.arange(len(CLEAN)), draw(votes=swapped).labels] > 0).all()


def test_the_worst_of_three_raters_is_wrong_where_one_of_them_is() -> None:
    manifest = draw(noise="raters_worst").manifest
    rng = np.random.default_rng(0)
    expected = np.eye(3)
    for label, votes in enumerate(VOTES[::3000]):
        asked = rng.choice(3, (40_000, 3), p=votes / 10)
        wrong = [[given for given in three if given != label] or [label] for three in asked.tolist()]
        expected[label] = np.bincount([rng.choice(given) for given in wrong], minlength=3) / len(wrong)
    np.testing.assert_allclose(manifest.transition, expected, atol=5 * np.sqrt(0.25 / 40_000))
    assert manifest.rate == pytest.approx(1 - (0.7**3 + 1 + 0.8**3) / 3) and manifest.kind == "raters_worst"


def test_data_without_votes_are_refused() -> None:
    with pytest.raises(WarlabError, match="draws from votes of raters, and cifar10 has none"):
        check("raters", "cifar10")
    with pytest.raises(WarlabError, match="the vectors have none; add train_votes to the npz file"):
        make_noise(NoiseRequest("vectors", "raters", 0, list("abc"), "real"), {"train_y": CLEAN}, {})


def own(folder: Path, **arrays: np.ndarray) -> PreparedData:
    x = np.arange(600, dtype=np.float32).reshape(100, 6)
    np.savez(folder / "own.npz", train_x=x, train_y=np.arange(100) % 3, **arrays)  # type: ignore[arg-type]
    dataset = warlab.data.get("vectors")
    fetch(dataset, folder / "raw", "real", folder / "own.npz")
    return dataset.prepare(folder / "raw", {"source": "real", "train": 50})


def test_votes_stay_with_their_samples_when_data_are_held_out_and_cut(tmp_path: Path) -> None:
    votes = np.random.default_rng(0).integers(1, 50, (100, 3))
    arrays = own(tmp_path, train_votes=votes).arrays
    rows = (arrays["train_x"][:, 0] / 6).astype(int)
    assert len(rows) == 50
    np.testing.assert_array_equal(arrays["train_votes"], votes[rows])


@pytest.mark.parametrize(
    ("votes", "reason"),
    [
        (np.ones((99, 3), int), "100 samples need one row of votes each, but train_votes has 99"),
        (np.ones((100, 2), int), r"whole numbers of shape \(\d+, 3\), not int64"),
        (np.ones((100, 3)), "whole numbers"),
        (np.eye(3, dtype=int)[np.arange(100) % 3] * (np.arange(100) != 50)[:, None], "negative votes or none at all"),
        (np.eye(3, dtype=int)[np.arange(100) % 3] - 1, "negative votes or none at all"),
    ],
)
def test_wrong_votes_are_one_sentence(tmp_path: Path, votes: np.ndarray, reason: str) -> None:
    with pytest.raises(WarlabError, match=reason):
        own(tmp_path, train_votes=votes)


def test_that_classes_are_ordered_trains_nothing_again() -> None:
    assert described("abc").identity() == described("abc", ordered=True).identity()
