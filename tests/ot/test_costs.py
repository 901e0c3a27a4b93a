"""Ground costs: their construction, their files, and what verification finds."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.helpers.scripts import snippet
from warlab import data
from warlab.artefacts.ground_cost import matrix_text, read_matrix
from warlab.errors import WarlabError
from warlab.ot.costs import make_cost
from warlab.ot.costs.base import CostInputs
from warlab.ot.points import from_distances, from_points, pairwise_distances
from warlab.ot.verify import verify_cost

FASHION = data.get("fashion_mnist")
CIFAR10 = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]


def inputs(names: list[str], words: list[str] | None = None) -> CostInputs:
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (60, 1, 4, 4)).astype(np.uint8)
    return CostInputs(names, words or names, images, np.arange(60) % len(names))


@pytest.mark.parametrize(("kind", "settings_"), [("zero_one", {}), ("w2v", {}), ("embed", {}), ("random", {"seed": 3})])
def test_costs_are_symmetric_with_zero_diagonal_and_not_negative(kind: str, settings_: dict) -> None:
    made = make_cost(kind, inputs(CIFAR10), settings_)
    cost, provenance = made.matrix, made.provenance
    assert cost.shape == (10, 10) and (cost == cost.T).all() and (np.diag(cost) == 0).all() and (cost >= 0).all()
    assert provenance.cost == kind and provenance.source


@pytest.mark.parametrize("classes", [2, 3, 10])
def test_the_ordinal_cost_is_that_of_points_on_a_line_and_agrees_with_pot(classes: int) -> None:
    names = [str(k) for k in range(classes)]
    ordered = replace(inputs(names), ordered=True)
    cost = make_cost("ordinal", ordered, {}).matrix
    np.testing.assert_array_equal(cost, from_points(np.arange(classes)[:, None].astype(float)))
    assert (np.diff(cost[0, 1:]) < 0).all()  # classes that are further apart cost less
    assert verify_cost(cost, 0.05, 20).passed
    with pytest.raises(WarlabError, match=r"needs classes with an order.*# ordered"):
        make_cost("ordinal", inputs(names), {})


@settings(max_examples=30, deadline=None)
@given(n=st.integers(2, 12), seed=st.integers(0, 1000), scale=st.floats(1e-3, 1e3))
def test_normalised_costs_do_not_depend_on_scale_and_are_metrics_where_the_paper_says(
    n: int, seed: int, scale: float
) -> None:
    points = np.random.default_rng(seed).standard_normal((n, 8))
    cost = from_distances(pairwise_distances(scale * points))
    np.testing.assert_allclose(cost, from_distances(pairwise_distances(points)), rtol=1e-9)
    off = cost[~np.eye(n, dtype=bool)]
    assert off.min() == pytest.approx(np.exp(-1)) and off.max() < 1
    if off.max() <= 2 * off.min():
        assert (cost[:, None, :] <= cost[:, :, None] + cost[None, :, :] + 1e-12).all()


def test_word_vectors_find_the_pairs_that_people_find() -> None:
    cost = make_cost("w2v", inputs(CIFAR10), {}).matrix
    assert {CIFAR10[k] for k in np.unravel_index(cost.argmax(), cost.shape)} == {"cat", "dog"}
    fashion = make_cost("w2v", CostInputs(FASHION.classes.names, FASHION.classes.words), {}).matrix
    assert fashion[4, 6] > fashion[4, 8]  # coat is nearer to shirt than to bag


def test_names_of_two_words_are_the_mean_of_their_vectors(tmp_path: Path) -> None:
    file = tmp_path / "vectors.txt"
    file.write_text("4 2\nankle 0 0\nboot 2 2\nbag 1 1\nhat 9 9\n")
    cost = make_cost("w2v", inputs(["a", "b", "c"], ["ankle boot", "bag", "hat"]), {"vectors": str(file)}).matrix
    assert cost[0, 1] == 1.0  # the same point: distance 0


def test_binary_models_such_as_googlenews_are_read_by_configuration(tmp_path: Path) -> None:
    vectors = KeyedVectors(vector_size=3)
    points = np.random.default_rng(0).standard_normal((3, 3)).astype(np.float32)
    vectors.add_vectors(["cat", "dog", "ship"], points)
    vectors.save_word2vec_format(str(tmp_path / "model.bin"), binary=True)
    made = make_cost("w2v", inputs(["cat", "dog", "ship"]), {"vectors": str(tmp_path / "model.bin"), "binary": True})
    np.testing.assert_allclose(made.matrix, from_distances(pairwise_distances(points.astype(np.float64))), rtol=1e-6)
    assert made.provenance.source == "word vectors model.bin"


def test_embed_is_computed_from_the_noisy_labels() -> None:
    given_ = inputs(["a", "b", "c"])
    one = make_cost("embed", given_, {}).matrix
    flipped = given_.labels.copy()
    flipped[:20] = (flipped[:20] + 1) % 3
    two = make_cost("embed", CostInputs(given_.class_names, given_.words, given_.images, flipped), {}).matrix
    assert not np.allclose(one, two)
    centroids = np.stack([given_.images[given_.labels == k].reshape(-1, 16).mean(0) / 255 for k in range(3)])
    np.testing.assert_allclose(one, from_distances(pairwise_distances(centroids)), rtol=1e-9)


def test_random_costs_depend_on_the_seed_alone() -> None:
    raw = [make_cost("random", inputs(CIFAR10), {"seed": s, "variant": "raw"}).matrix for s in (0, 0, 1)]
    assert (raw[0] == raw[1]).all() and not (raw[0] == raw[2]).all()
    assert (raw[0] < 0).any() and not np.allclose(raw[0], raw[0].T)


def test_a_cost_file_reads_back_to_the_same_bits(tmp_path: Path) -> None:
    cost = make_cost("w2v", inputs(CIFAR10), {}).matrix
    (tmp_path / "cost.csv").write_text(matrix_text(cost, CIFAR10))
    assert (read_matrix(tmp_path / "cost.csv", CIFAR10) == cost).all()
    again = make_cost("file", inputs(CIFAR10), {"path": str(tmp_path / "cost.csv")})
    assert (again.matrix == cost).all() and len(again.provenance.file_sha256 or "") == 64


def test_verification_of_the_good_costs() -> None:
    for kind in ("w2v", "zero_one"):
        checks = {c.name: c for c in verify_cost(make_cost(kind, inputs(CIFAR10), {}).matrix, 0.05, 20).checks}
        assert all(c.passed for c in checks.values() if c.required)
        assert checks["triangle"].passed
        assert not checks["Proposition 2 as printed"].passed and checks["Proposition 2, middle"].passed
    assert not checks["marginal error"].passed  # 0-1 after 20 iterations is not converged


def test_raw_random_costs_pass_as_signed_and_fail_otherwise() -> None:
    cost = make_cost("random", inputs(CIFAR10[:5]), {"variant": "raw"}).matrix
    assert verify_cost(cost, 0.05, 20, signed=True).passed
    assert not verify_cost(cost, 0.05, 20).passed


@pytest.mark.parametrize(
    ("kind", "settings_", "words"),
    [
        ("w2w", {}, "no ground cost 'w2w'"),
        ("w2v", {"vectors": "/nowhere.bin"}, "cannot be read in word2vec format"),
        ("embed", {"features": "resnet"}, "knows the features pixels"),
        ("random", {"variant": "cubic"}, "raw or abs_sym"),
        ("file", {}, "needs a path"),
        ("file", {"path": "/nowhere.csv"}, "cannot be read as a CSV"),
    ],
)
def test_wrong_requests_are_one_sentence(kind: str, settings_: dict, words: str) -> None:
    with pytest.raises(WarlabError, match=words):
        make_cost(kind, inputs(CIFAR10), settings_)


BARE = snippet((ROOT / "docs" / "your-own-data.md").read_text(), "`cost.csv`, where")


@pytest.mark.parametrize("text", [BARE, "c,cat,dog,truck\ncat,0,1,.4\ndog,1,0,.4\ntruck,.4,.4,0\n"])
def test_a_matrix_of_the_user_may_have_names_or_be_bare(text: str, tmp_path: Path) -> None:
    (tmp_path / "cost.csv").write_text(text)
    cost = make_cost("file", inputs(["cat", "dog", "truck"]), {"path": str(tmp_path / "cost.csv")})
    assert (
        cost.matrix.tolist() == [[0, 1, 0.4], [1, 0, 0.4], [0.4, 0.4, 0]] and verify_cost(cost.matrix, 0.05, 20).passed
    )
    with pytest.raises(WarlabError, match="a bare matrix of numbers in this order, or"):
        read_matrix(tmp_path / "cost.csv", ["cat", "dog"])
