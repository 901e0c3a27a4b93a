"""Properties of label noise: what may change, how often, and that the same seed gives the same labels."""

import re
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from warlab import noise
from warlab.artefacts import to_json
from warlab.common.files import digest
from warlab.common.seeds import derive_seed
from warlab.errors import WarlabError
from warlab.ids import NoiseId
from warlab.noise import make_noise
from warlab.noise.kinds.base import NoiseRequest
from warlab.noise.kinds.matrix import corrupt

BALANCED = np.arange(60000) % 10
NAMES = [f"class {i}" for i in range(10)]
RATES = st.floats(0, 0.99)
# (kind, dataset) → allowed flips; the paper and the authors' code differ for Fashion-MNIST
FLIPS = {
    ("asym", "fashion_mnist"): {(3, 0), (4, 6), (6, 4), (5, 7), (6, 2), (9, 7)},
    ("asym_code", "fashion_mnist"): {(3, 0), (4, 6), (6, 4), (5, 7), (2, 6), (9, 1)},
    ("asym", "cifar10"): {(9, 1), (2, 0), (4, 7), (3, 5), (5, 3)},
    ("pairflip", "anything"): {(i, (i + 1) % 10) for i in range(10)},
    ("sym", "anything"): {(i, j) for i in range(10) for j in range(10) if i != j},
    ("clean", "anything"): set(),
}
CELLS = pytest.mark.parametrize("kind, dataset", FLIPS)


def draw(noise_id: str, dataset: str = "fashion_mnist", seed: int = 0, clean: np.ndarray = BALANCED):
    made = make_noise(NoiseRequest(dataset, noise_id, seed, NAMES, "real"), {"train_y": clean}, {})
    return made.labels, to_json(made.manifest)


# every kind that reads nothing but the data, those of plug-ins too: (file, beginning of its ids)
SIMPLE = [
    (file, name)
    for file in noise.KINDS.names()
    for kind in [noise.KINDS.load(file).KIND]
    for name in kind.names
    if file not in ("objects", "real") and not kind.needs(NoiseId(name))
]


@pytest.mark.parametrize(("file", "name"), SIMPLE)
def test_a_kind_of_noise_keeps_the_contract(file: str, name: str) -> None:
    """Labels of the classes that are there, the same from the same seed, and a manifest that agrees with them."""
    noise_id, clean = f"{name}-30" if noise.KINDS.load(file).KIND.rated else name, BALANCED[:6000]
    images = np.random.default_rng(0).integers(0, 100, (6000, 1, 4, 4), np.uint8)
    images.reshape(6000, -1)[np.arange(6000), clean] += 150  # a pixel for each class, for noises that look at them
    data = {"train_y": clean, "train_x": images, "train_votes": 1 + 80 * np.eye(10, dtype=int)[clean]}
    dataset = "sentiment" if file == "raters" else "fashion_mnist"
    requests = [NoiseRequest(dataset, noise_id, seed, NAMES, "real") for seed in (0, 0, 1)]
    made, again, other = (make_noise(request, data, {}) for request in requests)
    assert made.labels.shape == clean.shape and set(made.labels) <= set(range(10))
    assert np.array_equal(made.labels, again.labels) and made.manifest.realised_rate == np.mean(made.labels != clean)
    np.testing.assert_allclose(np.sum(made.manifest.transition, 1), 1, atol=1e-9)
    if made.manifest.rate:
        assert not np.array_equal(made.labels, other.labels) and 0 < made.manifest.realised_rate < 0.33


# --- matrices ----------------------------------------------------------------------------------------------


@CELLS
@given(rate=RATES)
def test_matrix_is_row_stochastic_and_has_exactly_the_named_flips(kind, dataset, rate):
    matrix = noise.transition_matrix(kind, rate, dataset, 10)
    assert matrix.shape == (10, 10) and (matrix >= 0).all()
    np.testing.assert_allclose(matrix.sum(axis=1), 1, atol=1e-12)
    flips = {(int(i), int(j)) for i, j in np.argwhere(matrix > 0) if i != j}
    assert flips == FLIPS[kind, dataset] if rate > 1e-9 else flips <= FLIPS[kind, dataset]
    sources = {i for i, _ in FLIPS[kind, dataset]}
    expected = [1 - rate if i in sources else 1 for i in range(10)]
    np.testing.assert_allclose(np.diag(matrix), expected, atol=1e-12)


def test_shirt_is_split_in_the_paper_and_not_in_the_code():
    paper = noise.transition_matrix("asym", 0.4, "fashion_mnist", 10)
    code = noise.transition_matrix("asym_code", 0.4, "fashion_mnist", 10)
    np.testing.assert_allclose(paper[6, [2, 4, 6]], [0.2, 0.2, 0.6])
    np.testing.assert_allclose(code[6, [2, 4, 6]], [0, 0.4, 0.6])


@given(RATES, st.integers(2, 100))
def test_generic_noise_fits_any_number_of_classes(rate, n_classes):
    symmetric = noise.transition_matrix("sym", rate, "anything", n_classes)
    np.testing.assert_allclose(symmetric[0, 1:], rate / (n_classes - 1))
    flipped = noise.transition_matrix("pairflip", rate, "anything", n_classes)
    assert flipped[n_classes - 1, 0] == pytest.approx(rate)
    assert flipped[0, 1] == pytest.approx(rate)
    np.testing.assert_allclose(flipped.sum(axis=1), 1)


@pytest.mark.parametrize(
    "arguments, reason",
    [
        (
            ("asym", 0.4, "vaihingen", 6),
            "asym noise is not defined for vaihingen, only for cifar10, cifar100, fashion_mnist",
        ),
        (("asym_code", 0.4, "cifar10", 10), "only for cifar100, fashion_mnist"),
        (("asym", 0.4, "fashion_mnist", 9), "needs its 10 classes, not 9"),
        (("sym", 1.0, "fashion_mnist", 10), "outside"),
        (("sym", -0.1, "fashion_mnist", 10), "outside"),
        (("sym", float("nan"), "fashion_mnist", 10), "outside"),
        (("sym", 0.1, "fashion_mnist", 1), "at least two classes"),
        (("smy", 0.1, "fashion_mnist", 10), "no kind of noise 'smy'"),
    ],
)
def test_impossible_matrices_are_refused(arguments, reason):
    with pytest.raises(WarlabError, match=reason):
        noise.transition_matrix(*arguments)


# --- ids ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "noise_id, parsed",
    [
        ("clean", ("clean", 0.0)),
        ("asym-40", ("asym", 0.4)),
        ("asym_code-20", ("asym_code", 0.2)),
        ("sym-0", ("sym", 0.0)),
        ("pairflip-45", ("pairflip", 0.45)),
        ("sym-12.5", ("sym", 0.125)),
        ("sym-99.9", ("sym", pytest.approx(0.999))),
    ],
)
def test_an_id_is_a_kind_and_a_rate(noise_id, parsed):
    assert noise.parse(noise_id) == parsed


MALFORMED = """asym asym- asym-100 asym-400 asym--40 asym-4O asym-040 asym-40.0 asym-40% clean-20 clean-0
    smy-40 -40 asym_40 ASYM-40 asym-٤٠ asym-1e1 asym-nan
    human_worst human-40 human_worse-40 file- file-40 openset_svhn openset-40 openset_mnist-40"""


@pytest.mark.parametrize("noise_id", [*MALFORMED.split(), "", "asym-40\n", " asym-40"])
def test_parse_refuses_in_one_sentence(noise_id):
    with pytest.raises(
        WarlabError, match=r"write one of clean, .* or one of asym, asym_code, .* pairflip, .*sym with a hyphen"
    ):
        noise.parse(noise_id)


# --- drawn labels ------------------------------------------------------------------------------------------


def test_same_seed_same_labels_other_seed_other_labels():
    one, two, other = draw("asym-40", seed=1), draw("asym-40", seed=1), draw("asym-40", seed=2)
    np.testing.assert_array_equal(one[0], two[0])
    assert one[1] == two[1]
    assert (one[0] != other[0]).any()


def test_the_input_is_left_alone_and_draws_are_per_sample():
    clean = BALANCED.copy()
    clean.flags.writeable = False
    whole, _ = draw("sym-40", clean=clean)
    part, _ = draw("sym-40", clean=clean[:100])
    np.testing.assert_array_equal(whole[:100], part)


def test_labels_of_a_cell_stay_what_they_were():
    """A change of the generator would silently change every published run: it must be noticed."""
    _, manifest = draw("asym-40")
    assert manifest["rng_seed"] == derive_seed("noise", "fashion_mnist", "asym-40", 0)
    assert manifest["labels_sha256"] == "f4726d71db1c0844ed1737a34cdc5e0ea35d1dc3af6f00edf9b3a47d4c8ab130"


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 99), n_classes=st.integers(2, 12))
def test_a_label_is_the_number_of_thresholds_below_its_draw(seed: int, n_classes: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.dirichlet(np.ones(n_classes), n_classes) * (rng.random((n_classes, n_classes)) < 0.7) + np.eye(
        n_classes
    )
    matrix /= matrix.sum(axis=1, keepdims=True)
    labels, draws = rng.integers(0, n_classes, 200), np.random.default_rng(seed).random(200)
    thresholds = np.cumsum(matrix, axis=1) / matrix.cumsum(axis=1)[:, -1:]
    expected = (draws[:, None] >= thresholds[labels]).sum(axis=1)
    np.testing.assert_array_equal(corrupt(labels, matrix, np.random.default_rng(seed)), expected)


def test_memory_does_not_grow_with_samples_times_classes() -> None:
    labels = np.arange(50_000) % 500
    tracemalloc.start()
    corrupt(labels, np.eye(500), np.random.default_rng(0))
    assert tracemalloc.get_traced_memory()[1] < 10 * labels.nbytes + 4 * 8 * 500**2
    tracemalloc.stop()


def test_rounding_never_selects_an_impossible_class():
    class Largest:
        def random(self, n: int) -> np.ndarray:
            return np.full(n, np.nextafter(1, 0))

    matrix = np.array([[0.1, 0.2, 0.7 - 1e-12, 0.0], *np.eye(4)[1:]])  # sums to a little less than 1
    assert corrupt(np.array([0]), matrix, Largest()).tolist() == [2]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "labels, matrix, reason",
    [
        (np.array([0, 3]), np.eye(3), r"0\.\.2, found 0\.\.3"),
        (np.array([-1, 0]), np.eye(3), "found -1"),
        (np.array([0.0]), np.eye(3), "integers"),
        (np.array([[0]]), np.eye(3), "a vector of integers"),
        (np.array([0]), np.eye(3)[:2], "square"),
        (np.array([0]), 2 * np.eye(3), "sum to 1"),
        (np.array([0]), np.array([[2.0, -1.0], [0.0, 1.0]]), "non-negative"),
        (np.array([0]), np.full((2, 2), np.nan), "non-negative"),
    ],
)
def test_corrupt_refuses_nonsense(labels, matrix, reason):
    with pytest.raises(WarlabError, match=reason):
        corrupt(labels, matrix, np.random.default_rng(0))


def test_manifest_holds_what_happened():
    clean = np.array([0, 0, 1, 1])
    noisy = np.array([0, 1, 1, 1])
    matrix = noise.transition_matrix("sym", 0.2, "toy", 2)
    request = NoiseRequest("toy", "sym-20", 7, ["a", "b"], "stand-in")
    made = noise.kind_of("sym-20").noisy(request, clean, noisy, matrix)
    assert to_json(made.manifest) == {
        "dataset": "toy",
        "noise": "sym-20",
        "kind": "sym",
        "rate": 0.2,
        "seed": 7,
        "rng_seed": derive_seed("noise", "toy", "sym-20", 7),
        "realised_rate": 0.25,
        "transition": [[0.8, 0.2], [0.2, 0.8]],
        "realised_transition": [[0.5, 0.5], [0.0, 1.0]],
        "labels_sha256": digest(noisy),
        "clean_sha256": digest(clean),
        "class_names": ["a", "b"],
        "data": "stand-in",
    }


def test_the_page_names_every_noise() -> None:
    page = (ROOT / "docs" / "data.md").read_text().split("## Names of noises")[1].split("\n## ")[0]
    names = [
        name
        for line in page.splitlines()
        if line.startswith("| `")
        for name in re.findall("`([^`]+)`", line.split("|")[1])
    ]
    assert {noise.parse(name)[0] for name in names} == set(noise.kind_names())
