"""Instance-dependent noise against the generator of Xia et al., written out sample by sample."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import blobs
from warlab.artefacts.labelled_data import NoisyLabels
from warlab.errors import WarlabError
from warlab.noise import check, make_noise
from warlab.noise.kinds.base import NoiseRequest
from warlab.noise.kinds.instance import draw_rates, label_probabilities


def draw(percent: float, seed: int, n: int = 2000, classes: int = 5) -> tuple[np.ndarray, np.ndarray, NoisyLabels]:
    x, y = blobs(n, classes)
    names = [f"class {k}" for k in range(classes)]
    return (
        x,
        y,
        make_noise(
            NoiseRequest("blobs", f"instance-{percent:g}", seed, names, "real"), {"train_x": x, "train_y": y}, {}
        ),
    )


def test_probabilities_are_those_of_the_original_generator() -> None:
    x, y = blobs(40, 4)
    rng = np.random.default_rng(0)
    rates, weights = rng.random(40), rng.standard_normal((4, x[0].size, 4))
    for label in range(4):
        members = np.flatnonzero(y == label)
        found = np.concatenate(list(label_probabilities(x, members, rates, weights[label], label)))
        for row, i in zip(found, members, strict=True):
            scores = x[i].ravel() / 255 @ weights[label]
            others = [j for j in range(4) if j != label]
            share = np.exp(scores[others] - scores[others].max())
            expected = np.zeros(4)
            expected[others] = rates[i] * share / share.sum()
            expected[label] = 1 - rates[i]
            np.testing.assert_allclose(row, expected, atol=1e-12)


@settings(max_examples=10, deadline=None)
@given(percent=st.integers(0, 99), seed=st.integers(0, 99))
def test_every_class_has_about_the_nominal_rate_and_the_manifest_says_what_was_drawn(percent: int, seed: int) -> None:
    _, y, made = draw(percent, seed)
    expected, realised = np.array(made.manifest.transition), np.array(made.manifest.realised_transition)
    np.testing.assert_allclose(expected.sum(1), 1)
    assert np.abs(expected - realised).max() <= 5 * np.sqrt(0.25 / 400)
    # the rates are cut off at 0 and 1, so that their mean moves inwards by at most 0.08
    assert np.abs(1 - np.diag(expected) - percent / 100).max() < 0.1 and (percent > 0 or (made.labels == y).all())
    assert made.manifest.realised_rate == np.mean(made.labels != y) and made.manifest.kind == "instance"
    np.testing.assert_array_equal(made.labels, draw(percent, seed)[2].labels)


def test_the_wrong_label_depends_on_the_image_and_not_on_the_class_alone() -> None:
    """Images of a class that look alike get the same wrong label more often than other images of that class."""
    rng = np.random.default_rng(0)
    y, looks = np.arange(2000) % 5, np.arange(2000) // 5 % 8  # five classes with eight looks each
    x = (rng.integers(0, 250, (5, 8, 1, 12, 12))[y, looks] + rng.integers(0, 6, (2000, 1, 12, 12))).astype(np.uint8)
    request = NoiseRequest("looks", "instance-60", 0, list("abcde"), "real")
    labels = make_noise(request, {"train_x": x, "train_y": y}, {}).labels
    wrong = np.flatnonzero(labels != y)
    one, two = (part.ravel() for part in np.meshgrid(wrong, wrong))
    pairs = (y[one] == y[two]) & (one != two)
    same, alike = (labels[one] == labels[two])[pairs], (looks[one] == looks[two])[pairs]
    assert same[alike].mean() > same[~alike].mean() + 0.1


def test_rates_have_the_cut_off_normal_distribution() -> None:
    from scipy.stats import kstest, truncnorm

    rates = draw_rates(0.05, 5000, np.random.default_rng(0))
    assert kstest(rates, truncnorm(-0.5, 9.5, loc=0.05, scale=0.1).cdf).pvalue > 0.01
    assert (draw_rates(0.0, 5, np.random.default_rng(0)) == 0).all()


def test_data_without_images_in_memory_are_refused() -> None:
    with pytest.raises(WarlabError, match="reads samples in memory, and vaihingen has none"):
        check("instance-40", "vaihingen")
