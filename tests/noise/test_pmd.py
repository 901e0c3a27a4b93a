"""Polynomial-margin-diminishing noise against label_noise in the code of Zhang et al., written out sample by sample."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import blobs
from warlab.errors import WarlabError
from warlab.noise import make_noise
from warlab.noise.kinds.base import NoiseRequest
from warlab.noise.kinds.pmd import KIND, factor, keep, posterior


def original(eta: np.ndarray, kind: str) -> tuple[int, int, float]:
    """u, s and the probability of u at factor 1; the types count from 0 there."""
    s, u = np.argsort(eta)[-2:]
    eta_u, eta_s = eta[u], eta[s]
    if kind == "pmd1":
        f_us = -(1 / 2) * (eta_u - eta_s) ** 2 + 1 / 2
        return u, s, np.maximum((1 - f_us), 0.5)
    if kind == "pmd2":
        return u, s, 1 - (1 - np.abs(eta_u - eta_s) ** 3)
    m = np.abs(eta_u - eta_s)
    return u, s, 1 - (1 - (1 / 3) * m**3 - (1 / 3) * m**2 - (1 / 3) * m)


@pytest.mark.parametrize("kind", ["pmd1", "pmd2", "pmd3"])
def test_labels_are_kept_as_in_the_original_generator(kind: str) -> None:
    eta = np.random.default_rng(0).dirichlet(np.full(5, 0.3), 200)
    order, kept = keep(eta, kind)
    for row, first_two, k in zip(eta, order, kept, strict=True):
        u, s, expected = original(row, kind)
        assert first_two.tolist() == [u, s] and k == pytest.approx(expected, abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(kind=st.sampled_from(["pmd1", "pmd2", "pmd3"]), rate=st.floats(0.05, 0.8), seed=st.integers(0, 99))
def test_the_factor_gives_the_rate(kind: str, rate: float, seed: int) -> None:
    eta = np.random.default_rng(seed).dirichlet(np.full(4, 0.2), 500)
    order, kept = keep(eta, kind)
    clean = order[:, 0]  # the classifier is right
    p = np.minimum(1, kept / factor(order, kept, clean, rate, "pmd"))
    assert 1 - p.mean() == pytest.approx(rate, abs=1e-9)


@pytest.mark.parametrize("percent", [20, 60])
@pytest.mark.parametrize("kind", list(KIND.names))
def test_wrong_labels_are_the_second_class_where_the_classifier_hesitates(kind: str, percent: int) -> None:
    x, y = blobs(1500, 5)
    x = (x // 4 + np.random.default_rng(0).integers(0, 192, x.shape)).astype(np.uint8)  # so that it is not always right
    request = NoiseRequest("blobs", f"{kind}-{percent}", 3, list("abcde"), "real")
    made, eta = make_noise(request, {"train_x": x, "train_y": y}, {}), posterior(x, y, 5)
    order, margin = keep(eta, kind)[0], -np.diff(-np.sort(-eta, axis=1)[:, :2]).ravel()
    assert ((made.labels == order[:, 0]) | (made.labels == order[:, 1])).all()
    moved = made.labels == order[:, 1]
    assert margin[moved].mean() < margin[~moved].mean()
    expected, realised = np.array(made.manifest.transition), np.array(made.manifest.realised_transition)
    np.testing.assert_allclose(expected.sum(1), 1)
    assert np.abs(expected - realised).max() <= 5 * np.sqrt(0.25 / 300)
    assert made.manifest.realised_rate == np.mean(made.labels != y) == pytest.approx(percent / 100, abs=0.06)
    np.testing.assert_array_equal(made.labels, make_noise(request, {"train_x": x, "train_y": y}, {}).labels)


def test_a_rate_below_the_errors_of_the_classifier_is_refused() -> None:
    rng = np.random.default_rng(0)
    data = {"train_x": rng.integers(0, 255, (400, 1, 2, 2)).astype(np.uint8), "train_y": np.arange(400) % 4}
    with pytest.raises(WarlabError, match=r"pmd1-5 cannot be had: on these data it gives between \d\d"):
        make_noise(NoiseRequest("own", "pmd1-5", 0, list("abcd"), "real"), data, {})
    with pytest.raises(WarlabError, match="reads samples in memory, and vaihingen has none"):
        make_noise(NoiseRequest("vaihingen", "pmd2-30", 0, list("abcd"), "real"), data, {})


def test_the_posterior_is_that_of_a_converged_logistic_regression() -> None:
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    x = rng.standard_normal((3, 6))[y] + 2 * rng.standard_normal((300, 6))
    scaled = (x - x.mean(0)) / x.std(0)
    scaled = np.hstack([scaled, np.ones((300, 1))])
    known = LogisticRegression(C=1 / (300 * 1e-3), fit_intercept=False, tol=1e-8, max_iter=1000).fit(scaled, y)
    np.testing.assert_allclose(posterior(x, y, 3), known.predict_proba(scaled), atol=2e-3)


@pytest.mark.parametrize("column", ["constant", "far", "small", "large"])
def test_the_posterior_depends_neither_on_the_scale_of_a_column_nor_on_columns_without_information(column: str) -> None:
    """In float32, the mean of 20 000 numbers such as 100 000.1 is wrong by many times their spread."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 20_000)
    x = (y[:, None] + rng.integers(-8, 9, (20_000, 4)) / 4).astype(np.float32)
    changed = x.copy()
    if column == "constant":
        changed = np.hstack([x, np.full((20_000, 1), 1000.1, np.float32)])
    changed[:, 0] = {"far": x[:, 0] + 2**17, "small": x[:, 0] * 2.0**-40, "large": x[:, 0] * 2.0**90}.get(
        column, x[:, 0]
    )
    np.testing.assert_allclose(posterior(changed, y, 3), posterior(x, y, 3), atol=1e-3)
