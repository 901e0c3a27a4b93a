"""The costs of the authors' word vectors: their values, found by class names, and where they are the default."""

import hashlib

import numpy as np
import pytest

from tests.conftest import ROOT
from tests.helpers.studies import study_of
from warlab import data
from warlab.artefacts.ground_cost import GroundCost
from warlab.config.study import Study
from warlab.data.sets import _cifar100_names
from warlab.errors import WarlabError
from warlab.ot.costs import make_cost
from warlab.ot.costs.base import CostInputs
from warlab.ot.verify import verify_cost

FOLDER = ROOT / "src/warlab/assets/ground_costs"
DATASETS = ("cifar10", "cifar100", "clothing1m")


@pytest.fixture(scope="module")
def paper() -> Study:
    return study_of("paper")


def made(study: Study, name: str, dataset: str) -> GroundCost:
    """A named cost as the workflow makes it."""
    settings, known = study.settings.cost(name, dataset), data.get(dataset)
    kind = settings.pop("kind")
    return make_cost(kind, CostInputs(known.classes.names, known.classes.words), settings)


def off_diagonal(cost: np.ndarray) -> np.ndarray:
    return cost[~np.eye(len(cost), dtype=bool)]


def rank_in_row(cost: np.ndarray, names: list[str], source: str, target: str) -> int:
    row = cost[names.index(source)]
    return int((row > row[names.index(target)]).sum()) + 1


@pytest.mark.parametrize(
    "dataset, smallest, mean, largest",
    [("cifar10", 0.3679, 0.4403, 0.6297), ("cifar100", 0.3679, 0.4676, 0.6989), ("clothing1m", 0.3679, 0.4686, 0.6475)],
)
def test_the_default_w2v_has_the_statistics_of_the_published_vectors(
    paper: Study, dataset: str, smallest: float, mean: float, largest: float
) -> None:
    cost = made(paper, "w2v", dataset)
    off = off_diagonal(cost.matrix)
    assert [off.min(), off.mean(), off.max()] == pytest.approx([smallest, mean, largest], abs=1e-4)
    assert f"published cost {dataset}.csv" in cost.provenance.source and len(cost.provenance.file_sha256 or "") == 64


def test_known_entries_and_ranks_of_cifar10(paper: Study) -> None:
    cost = made(paper, "w2v", "cifar10").matrix
    names = list(data.get("cifar10").classes.names)
    for one, two, value in (("cat", "dog", 0.6297), ("deer", "horse", 0.4713), ("ship", "deer", 0.3679)):
        assert cost[names.index(one), names.index(two)] == pytest.approx(value, abs=1e-4)
    flips = {
        ("truck", "automobile"): 1,
        ("cat", "dog"): 1,
        ("dog", "cat"): 1,
        ("deer", "horse"): 2,
        ("bird", "airplane"): 5,
    }
    assert {flip: rank_in_row(cost, names, *flip) for flip in flips} == flips


def test_the_two_readings_of_cifar100(paper: Study) -> None:
    """By label a superclass is dear; in the code's order the blocks of five labels are, whatever their names."""
    by_label = made(paper, "w2v", "cifar100").matrix
    as_code = made(paper, "w2v_code", "cifar100").matrix
    group = {name: k for k, members in enumerate(_cifar100_names.SUPERCLASSES) for name in members}
    superclass = np.array([group[name] for name in _cifar100_names.NAMES])
    block = np.arange(100) // 5
    for cost, groups in ((by_label, superclass), (as_code, block)):
        same, own = groups[:, None] == groups[None], np.eye(100, dtype=bool)
        assert cost[same & ~own].mean() == pytest.approx(0.540, abs=1e-3)
        assert cost[~same].mean() == pytest.approx(0.465, abs=1e-3)
    assert sorted(off_diagonal(by_label)) == sorted(off_diagonal(as_code)) and not np.array_equal(by_label, as_code)


def test_classes_of_another_order_get_their_own_rows() -> None:
    names = list(data.get("cifar10").classes.names)
    usual = make_cost("w2v", CostInputs(names, names), {"vectors": "published"}).matrix
    turned = make_cost("w2v", CostInputs(names[::-1], names[::-1]), {"vectors": "published"}).matrix
    np.testing.assert_array_equal(turned, usual[::-1, ::-1])


def test_classes_without_a_published_cost_are_told_so() -> None:
    with pytest.raises(WarlabError, match="No published ground cost has the classes cat, dog"):
        make_cost("w2v", CostInputs(["cat", "dog"], ["cat", "dog"]), {"vectors": "published"})


@pytest.mark.parametrize("dataset", DATASETS)
def test_verification_accepts_the_published_costs(paper: Study, dataset: str) -> None:
    cost = made(paper, "w2v", dataset).matrix
    verification = verify_cost(cost, 0.05, 20)
    assert verification.passed and all(check.passed for check in verification.checks if check.name == "triangle")


@pytest.mark.parametrize("dataset", [*DATASETS, "fashion_mnist", "vaihingen"])
def test_the_vectors_that_come_with_warlab_can_be_chosen_for_every_dataset(paper: Study, dataset: str) -> None:
    cost = made(paper, "w2v_glove6b", dataset)
    assert cost.provenance.source == "word vectors glove_6b_100d_classes.txt"
    usual = made(paper, "w2v", dataset).matrix
    assert np.array_equal(cost.matrix, usual) == (dataset not in DATASETS)
    for method in ("war_w2v_glove6b", "war_w2v+cost=w2v_glove6b"):
        assert paper.settings.method(method, dataset)["cost"] == "w2v_glove6b"


def test_the_files_are_those_of_the_readme_and_have_a_licence() -> None:
    readme = (FOLDER / "README.md").read_text()
    for dataset in DATASETS:
        assert hashlib.sha256((FOLDER / f"{dataset}.csv").read_bytes()).hexdigest() in readme
    assert "MIT License" in (FOLDER / "LICENSE").read_text() and "MIT" in readme
