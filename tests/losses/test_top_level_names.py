"""`from warlab import ...`: what it holds, its ground costs, its examples, and one sentence for what it refuses."""

import doctest
import inspect
import warnings
from collections.abc import Callable
from importlib import import_module
from types import SimpleNamespace
from typing import Any, get_type_hints

import numpy as np
import pytest
import torch
from gensim.models import KeyedVectors, Word2Vec
from torch import Tensor, nn

import warlab
from warlab import ARLoss, TVLoss, WarlabError, WARLoss, centroid_cost, sinkhorn, word_cost, zero_one_cost
from warlab.ot.cost_checks import refuse_failed
from warlab.ot.costs import make_cost
from warlab.ot.costs.base import CostInputs
from warlab.ot.points import embedded_vectors
from warlab.ot.verify import verify_cost

NAMES = ["cat", "dog", "truck"]
X, MODEL = torch.randn(6, 8, generator=torch.Generator().manual_seed(0)), nn.Linear(8, 3)
LABELS = torch.arange(6) % 3
WEAK_ENOUGH = torch.tensor([[0.0, 0.9, 0.2], [0.9, 0.0, 0.2], [0.2, 0.2, 0.0]])  # of docs/loss.md
MODULES = (*(f"warlab.war.{name}" for name in ("war", "ar", "tv")), "warlab.ot.ground", "warlab.ot.sinkhorn")


def test_the_names_of_the_issue_are_there_and_in_the_list() -> None:
    names = {"WARLoss", "ARLoss", "TVLoss", "sinkhorn", "word_cost", "centroid_cost", "zero_one_cost", "WarlabError"}
    assert names == set(warlab.__all__) <= set(dir(warlab))
    with pytest.raises(AttributeError, match="no attribute 'WarLoss'"):
        warlab.WarLoss  # noqa: B018


@pytest.mark.parametrize("thing", [WARLoss, ARLoss, TVLoss, sinkhorn, word_cost, centroid_cost, zero_one_cost])
def test_every_parameter_is_spelled_out_typed_and_described(thing: Any) -> None:
    function = thing.__init__ if inspect.isclass(thing) else thing
    parameters = [p for name, p in inspect.signature(function).parameters.items() if name != "self"]
    hints = get_type_hints(function)
    for parameter in parameters:
        assert parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        assert parameter.name in hints
        assert f"{parameter.name}" in (thing.__doc__ or "").split("Examples")[0]
    assert all(part in (thing.__doc__ or "") for part in (".. math::", "Parameters\n", "Examples\n", ">>> "))


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_the_docstrings_run(name: str) -> None:
    found = doctest.testmod(import_module(name))
    assert found.attempted > 0 and found.failed == 0


# ---- ground costs


def test_the_shipped_vectors_are_read_as_gensim_reads_them() -> None:
    theirs = KeyedVectors.load_word2vec_format(str(embedded_vectors()))
    ours = word_cost(NAMES)
    for vectors in (theirs, {name: theirs[name] for name in NAMES}, str(embedded_vectors())):
        assert torch.equal(word_cost(NAMES, vectors), ours)
    trained = Word2Vec([NAMES] * 5, vector_size=4, min_count=1, seed=1, workers=1)
    assert torch.equal(word_cost(NAMES, trained), word_cost(NAMES, trained.wv))


def test_the_helpers_give_the_costs_of_the_workflow() -> None:
    expected = make_cost("w2v", CostInputs(NAMES, NAMES), {}).matrix
    assert torch.equal(word_cost(NAMES), torch.from_numpy(expected).float())
    images, labels = np.random.default_rng(0).random((30, 3, 4, 4)), np.arange(30) % 3
    expected = make_cost("embed", CostInputs(NAMES, NAMES, images, labels), {}).matrix
    for features, given in ((images, labels), (torch.from_numpy(images).requires_grad_(), torch.from_numpy(labels))):
        assert torch.equal(centroid_cost(features, given), torch.from_numpy(expected).float())
    assert torch.equal(centroid_cost(images, labels, NAMES), torch.from_numpy(expected).float())
    expected = make_cost("zero_one", CostInputs(NAMES, NAMES), {}).matrix
    assert torch.equal(zero_one_cost(3), torch.from_numpy(expected).float())


def test_a_thousand_classes_need_no_gigabytes() -> None:
    points = torch.randn(2000, 512, generator=torch.Generator().manual_seed(0))
    cost = centroid_cost(points, torch.arange(2000) % 1000)
    assert cost.shape == (1000, 1000)
    model, x = nn.Linear(8, 1000), torch.randn(4, 8)
    value = WARLoss(cost, epsilon=1.0)(model, x, model(x))
    value.backward()
    assert value > 0 and all(torch.isfinite(weight.grad).all() for weight in model.parameters())


@pytest.mark.parametrize("change", [lambda c: c - 0.1, lambda c: np.triu(c), lambda c: c + np.eye(3)])
def test_a_bad_cost_gets_the_sentence_of_the_workflow(change: Callable) -> None:
    bad = change(1 - np.eye(3))
    with pytest.raises(WarlabError) as ours:
        WARLoss(bad)
    with pytest.raises(WarlabError) as theirs:
        refuse_failed(verify_cost(bad, 0.05, 20).checks, "of WARLoss")
    assert str(ours.value).split(":")[0] == str(theirs.value).split(":")[0]
    assert "fails the check" in str(ours.value)


def test_signed_and_asymmetric_costs_must_be_asked_for() -> None:
    raw = np.array([[0, -1.0, 0.5], [1, 0, 2], [-0.3, 1, 0]])
    with pytest.raises(WarlabError, match="'symmetry'"):
        WARLoss(raw)
    assert torch.isfinite(WARLoss(raw, signed=True)(MODEL, X))


def test_rounding_of_single_precision_is_no_asymmetry() -> None:
    points = torch.randn(50, 16)
    distances = torch.cdist(points, points, compute_mode="use_mm_for_euclid_dist").fill_diagonal_(0)
    WARLoss((distances + 1e-8 * torch.rand(50, 50).fill_diagonal_(0)).numpy())


VECTORS = {"cat": [0.0, 1.0], "dog": [1.0, 1.0], "odd": [1.0], "gap": [float("nan"), 0.0]}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: word_cost("cat"), "list with the names of at least two classes"),
        (lambda: word_cost(["cat"]), "at least two classes"),
        (lambda: word_cost(["cat", 3]), "at least two classes"),  # type: ignore[list-item]
        (lambda: word_cost(["cat", "qwzx"]), "The word 'qwzx' of class 'qwzx' is not in glove"),
        (lambda: word_cost(["cat", "truck"], VECTORS), "'truck' of class 'truck' is not in the given vectors"),
        (lambda: word_cost(["cat", "odd"], VECTORS), "the same length"),
        (lambda: word_cost(["cat", "gap"], VECTORS), "'gap' in the given vectors has entries that are not finite"),
        (lambda: word_cost(["cat", "cat"], VECTORS), "All classes have the same representation"),
        (lambda: word_cost(["cat", "dog"], 3), "must map words to vectors"),
        (lambda: word_cost(["cat", "dog"], "/nowhere.txt"), "cannot be read in word2vec format"),
        (lambda: centroid_cost(np.ones((4, 2)), [0, 0, 2, 2]), "No training image is labelled '1'"),
        (lambda: centroid_cost(np.ones((4, 2)), [0, 1, 0, 1]), "the same representation"),
        (lambda: centroid_cost(np.ones((4, 2)), [0, 1]), r"shapes \(4, 2\) and \(2,\)"),
        (lambda: centroid_cost(np.ones((4, 2)), [0.0, 1.0, 1.0, 0.0]), "labels of type float64"),
        (lambda: centroid_cost(np.ones((4, 2)), [0, 1, -100, 1]), "ignore_index"),
        (lambda: centroid_cost(np.ones((4, 2)), [0, 1, 2, 1], classes=2), "0 to 1 for 2 classes"),
        (lambda: centroid_cost(np.full((4, 2), np.nan), [0, 1, 0, 1]), "finite numbers"),
        (lambda: zero_one_cost(1), "at least 2"),
        (lambda: zero_one_cost(2.5), "at least 2"),  # type: ignore[arg-type]
        (lambda: sinkhorn(X.softmax(1), X.softmax(1), zero_one_cost(3)), r"not \(6, 8\), \(6, 8\) and \(3, 3\)"),
        (lambda: sinkhorn(torch.randn(6, 3), X[:, :3].softmax(1), zero_one_cost(3)), "rows of probabilities"),
        (lambda: sinkhorn(X[:, :3].softmax(1), torch.rand(6, 3), zero_one_cost(3)), "rows of probabilities"),
        (lambda: sinkhorn(*[torch.full((2, 3), torch.nan)] * 2, zero_one_cost(3)), "rows of probabilities"),
        (lambda: sinkhorn(*[torch.ones(6, 3).long()] * 2, zero_one_cost(3)), "rows of probabilities"),
        (lambda: sinkhorn(*[X[:, :3].softmax(1)] * 2, zero_one_cost(3), iterations=0), "iterations at least 1"),
        (lambda: WARLoss(1 - torch.eye(3), epsilon=float("nan")), "epsilon"),
        (lambda: ARLoss(epsilon=float("inf")), "epsilon"),
        (lambda: ARLoss(direction="avg"), "direction must be sum, mean, clean, random or gaussian"),  # type: ignore[arg-type]
        (lambda: TVLoss(direction="random", power_iterations=2), "takes no gradient"),
        (lambda: TVLoss(epsilon="0.1"), "epsilon"),  # type: ignore[arg-type]
        (lambda: WARLoss(torch.zeros(0, 0)), "square matrix"),
        (lambda: WARLoss(torch.rand(3, 4)), "square"),
        (lambda: WARLoss(torch.full((3, 3), float("nan"))), "finite"),
        (lambda: WARLoss(torch.ones(3, 3)), "diagonal"),
        (lambda: WARLoss(1 - torch.eye(3), lam=0.0), "lambda"),
        (lambda: ARLoss(dropout="sometimes"), "independent, shared or off"),  # type: ignore[arg-type]
        (lambda: ARLoss(order="reverse"), "code or paper"),  # type: ignore[arg-type]
        (lambda: ARLoss(power_iterations=0), "power_iterations must be at least 1"),
    ],
)
def test_wrong_arguments_are_one_sentence(call: Callable, words: str) -> None:
    with pytest.raises(WarlabError, match=words):
        call()


@pytest.mark.parametrize("number", [np.float32(0.25), np.float64(0.25), np.int64(1), 1, 0.25])
def test_epsilon_may_be_any_real_number(number: float) -> None:
    assert TVLoss(epsilon=number).epsilon == float(number)


def test_a_folder_name_finds_its_hyphenated_word() -> None:
    """The vectors have t-shirt, but no word t; where the words are there, their mean counts, as before."""
    assert torch.equal(word_cost(["t_shirt", "dress"]), word_cost(["t-shirt", "dress"]))
    both = {"ice": np.ones(2), "cream": np.eye(2)[0], "ice-cream": -np.ones(2), "dog": np.eye(2)[1]}
    assert torch.equal(word_cost(["ice_cream", "dog"], both), word_cost(["ice cream", "dog"], both))
    with pytest.raises(WarlabError, match="centroid_cost or zero_one_cost"):
        word_cost(["qw_zx", "dog"])


def test_the_cost_is_a_copy_and_its_domain_follows_every_change() -> None:
    """Of the caller's matrix, of the buffer, of lambda, and by a loaded state."""
    a, b = torch.tensor([[0.9, 0.05, 0.05]]), torch.tensor([[0.1, 0.8, 0.1]])

    def changed(change: Callable[[WARLoss], object]) -> Tensor:
        war = WARLoss(zero_one_cost(3))
        change(war)
        return war.divergence(a, b)

    ordinary, steep = WARLoss(zero_one_cost(3)), WARLoss(4 * zero_one_cost(3))
    for cost in (zero_one_cost(3), zero_one_cost(3).numpy()):
        war = WARLoss(cost)
        cost *= 4
        assert torch.equal(war.divergence(a, b), ordinary.divergence(a, b))
    for change in (
        lambda war: war.load_state_dict(steep.state_dict()),
        lambda war: war.cost.mul_(4),
        lambda war: setattr(war, "cost", 4 * zero_one_cost(3)),
    ):
        assert torch.equal(changed(change), steep.divergence(a, b))
    sharp = WARLoss(zero_one_cost(3), lam=0.005)
    assert torch.equal(changed(lambda war: setattr(war, "lam", 0.005)), sharp.divergence(a, b))


@pytest.mark.parametrize(("cost", "weak"), [(zero_one_cost(3), True), (zero_one_cost(10), True), (WEAK_ENOUGH, False)])
def test_a_cost_that_the_iterations_cannot_move_is_warned_of_once(cost: Tensor, weak: bool) -> None:
    """Between predictions that differ little, such as those at x and at x + r."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")
        for _ in range(3):
            WARLoss(cost)
        WARLoss(cost, lam=0.5), WARLoss(cost, iterations=2000)
    assert ["TVLoss" in str(one.message) for one in found] == [True] * weak
    logits = torch.randn(20, len(cost), generator=torch.Generator().manual_seed(0)).double()
    a, b = logits.softmax(1), (logits + 0.05 * logits.roll(1, 1)).softmax(1)
    after_20, converged = (sinkhorn(a, b, cost.double(), iterations=n).mean() for n in (20, 5000))
    assert bool(after_20 < 0.01 * converged) is weak


# ---- what the loop hands over


def plain(function: Callable[[Tensor], Any]) -> nn.Module:
    """A module with that forward."""
    module = nn.Module()
    module.add_module("net", nn.Linear(8, 3))
    module.forward = lambda x: function(module.net(x))  # type: ignore[method-assign, assignment, operator]
    return module


def without_gradients(model: nn.Module = MODEL) -> Tensor:
    with torch.no_grad():
        return ARLoss()(model, X)


def in_inference_mode() -> Tensor:
    with torch.inference_mode():
        return ARLoss()(MODEL, X)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (without_gradients, "Gradients are switched off"),
        (in_inference_mode, "Gradients are switched off"),
        (lambda: ARLoss()(MODEL, X[:0]), "at least one sample"),
        (lambda: ARLoss()(MODEL, (X, X)), r"predict=lambda x: model\(x, others\)"),
        (lambda: ARLoss()(MODEL, torch.ones(2, 8, dtype=torch.long)), "embeddings as inputs"),
        (lambda: ARLoss()(MODEL, torch.ones(2, 8, dtype=torch.uint8)), "scale images"),
        (lambda: ARLoss()(lambda x: x, X), "give the nn.Module"),
        (lambda: ARLoss()(nn.Linear(8, 3).bfloat16(), X.bfloat16()), "torch.bfloat16, .*torch.autocast"),
        (lambda: ARLoss()(nn.Linear(8, 3).half(), X.half()), "torch.float16"),
        (lambda: ARLoss()(plain(lambda z: z.softmax(1)), X), "returns probabilities"),
        (lambda: ARLoss()(plain(lambda z: {"out": z}), X), "predict=lambda inputs"),
        (lambda: ARLoss()(plain(lambda z: (z, z)), X), "returns tuple without a tensor of logits"),
        (lambda: ARLoss()(plain(lambda z: z[:, :, None].expand(-1, -1, 3)), X), "class_dim=1 or class_dim=2"),
        (lambda: ARLoss(class_dim=5)(MODEL, X), "class_dim=5 is no axis"),
        (lambda: ARLoss(class_dim=0)(MODEL, X), "class_dim=0 is no axis"),
        (lambda: ARLoss()(plain(lambda z: z[:, 0]), X), "one row of logits per input"),
        (lambda: ARLoss()(plain(lambda z: z[:2]), X), "one row of logits per input"),
        (lambda: ARLoss()(plain(lambda z: z[:, :1]), X), "binary task"),
        (lambda: ARLoss()(plain(lambda z: z.detach()), X), "differentiable"),
        (lambda: ARLoss()(MODEL, X, predict=lambda _: MODEL(X)), "ignores its argument"),
        (lambda: ARLoss()(MODEL, X, mask=torch.ones(6)), "tensor of booleans"),
        (lambda: ARLoss()(MODEL, X, mask=torch.ones(6, 3, dtype=torch.bool)), r"of shape \(6,\)"),
        (lambda: ARLoss()(MODEL, X, LABELS), r"logits are torch.int64 of shape \(6,\).*not the labels"),
        (lambda: ARLoss(dropout="off")(MODEL, X, LABELS), "not the labels"),
        (lambda: TVLoss()(MODEL, X, LABELS.float()), "one row of logits per input"),
        (lambda: TVLoss()(MODEL, X, nn.functional.one_hot(LABELS)), "not the labels"),
        (lambda: TVLoss()(MODEL, X, nn.functional.one_hot(LABELS).float()), "returns probabilities"),
        (lambda: TVLoss(dropout="shared")(MODEL, X, MODEL(X[:4])), "one row of logits per input"),
        (lambda: WARLoss(zero_one_cost(4))(MODEL, X), "3 classes but the cost matrix has 4"),
    ],
)
def test_wrong_batches_and_models_are_one_sentence(call: Callable, words: str) -> None:
    with pytest.raises(WarlabError, match=words):
        call()


def test_single_logits_and_log_probabilities_are_no_probabilities() -> None:
    ARLoss()(plain(lambda z: z.log_softmax(1)), X)
    ARLoss()(plain(lambda z: z.softmax(1)), X[:2])  # two rows may be an accident
    for model in (MODEL, plain(lambda z: SimpleNamespace(logits=z)), plain(lambda z: {"logits": z})):
        assert ARLoss()(model, X).ndim == 0
