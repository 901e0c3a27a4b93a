"""Odd ground costs and names are handled or refused; the transport is never silently NaN.

More of this kind: tests/ot/test_costs.py (asymmetric, negative, other classes), tests/losses/test_war.py (the loss).
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.faults.counting import count, long
from tests.faults.test_hostile_data import HOSTILE_NAMES
from tests.helpers.reports import figure_inputs, texts
from warlab.artefacts.ground_cost import matrix_text, read_matrix
from warlab.errors import WarlabError
from warlab.ot.cost_checks import refuse_failed
from warlab.ot.costs import make_cost
from warlab.ot.costs.base import CostInputs
from warlab.ot.sinkhorn import plan, sinkhorn
from warlab.ot.verify import prediction_pairs, verify_cost
from warlab.reporting.figures.base import make
from warlab.war import WARLoss


def pairs(n: int = 4, dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, torch.Tensor]:
    a, b = prediction_pairs(n, 8)
    return torch.as_tensor(a, dtype=dtype), torch.as_tensor(b, dtype=dtype)


SQUARE = 1 - torch.eye(4)


@pytest.mark.parametrize("lam", [0.0, -1.0, float("nan"), float("inf")])
def test_an_impossible_lambda_is_refused(lam: float) -> None:
    for solve in (sinkhorn, lambda *given_: plan(*given_, 20)):
        with pytest.raises(WarlabError, match="must be a finite number above 0"):
            solve(*pairs(), SQUARE, lam)
    with pytest.raises(WarlabError):
        WARLoss(SQUARE, lam=lam)
    count("hostile cost")


@pytest.mark.parametrize("lam", [1e-38, 1e-12, 1e-6, 1e-3, 1e6])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_a_tiny_or_huge_lambda_gives_finite_transport(lam: float, scale: float) -> None:
    a, b = pairs(dtype=torch.float64)
    value = sinkhorn(a, b, scale * SQUARE.double(), lam)
    assert torch.isfinite(value).all() and (value >= 0).all() and (value <= scale * (1 + 1e-9)).all()
    count("hostile cost")


@pytest.mark.parametrize("where", ["a", "b", "cost"])
@pytest.mark.parametrize("what", [float("nan"), float("inf")])
def test_nan_and_infinity_are_refused(where: str, what: float) -> None:
    a, b = pairs()
    given_ = {"a": a.clone(), "b": b.clone(), "cost": SQUARE.clone()}
    given_[where][0, 1] = what
    with pytest.raises(WarlabError, match="finite"):
        sinkhorn(given_["a"], given_["b"], given_["cost"], 0.05)
    count("hostile cost")


@pytest.mark.parametrize("cost", [torch.zeros(4, 4), torch.full((4, 4), 0.3) - 0.3 * torch.eye(4)])
def test_costs_that_are_all_equal_give_total_variation_times_their_size(cost: torch.Tensor) -> None:
    """A cost of zeros is a regularisation of zero; equal costs are total variation times their size."""
    a, b = pairs(dtype=torch.float64)
    value = sinkhorn(a, b, cost.double(), 0.01, 500)
    torch.testing.assert_close(value, cost.max().double() * 0.5 * (a - b).abs().sum(1), atol=1e-3, rtol=1e-3)
    count("hostile cost")


@settings(max_examples=300 if long() else 25, deadline=None)
@given(st.integers(2, 6), st.floats(1e-6, 1e3), st.floats(-12, 12), st.booleans(), st.integers(0, 1000), st.booleans())
def test_random_costs_of_any_size_and_sign_give_finite_values_and_gradients(
    n: int, lam: float, power: float, signed: bool, seed: int, single: bool
) -> None:
    rng = np.random.default_rng(seed)
    cost = 10.0**power * (rng.standard_normal((n, n)) if signed else rng.random((n, n)))
    np.fill_diagonal(cost, 0)
    dtype = torch.float32 if single else torch.float64
    a, b = pairs(n, dtype)
    logits = a.log().requires_grad_()
    value = sinkhorn(logits.softmax(1), b, torch.as_tensor(cost, dtype=dtype), lam)
    (gradient,) = torch.autograd.grad(value.sum(), logits)
    assert torch.isfinite(value).all() and torch.isfinite(gradient).all()
    count("hostile cost")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: c[:3], "square"),
        (lambda c: c * np.nan, "finite"),
        (lambda c: -c, "'symmetry'|'sign'"),
        (lambda c: np.triu(c), "'symmetry'"),
        (lambda c: c + 1, "'diagonal'"),
        (lambda c: c[0], "square"),
    ],
)
def test_a_matrix_that_is_not_a_cost_never_reaches_training(change, words: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(WarlabError, match=words):
        refuse_failed(verify_cost(change(1 - np.eye(4)), 0.05, 20).checks, "mine.csv")
    count("hostile cost")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "class,a,b\n",
        "class,a,b\na,0\nb,1,0\n",
        "class,a,b\na,0,x\nb,1,0\n",
        "\x00",
        "class,a,b\na,0,1\nb,1,\n",
    ],
)
def test_a_cost_file_without_a_matrix_is_refused_in_one_sentence(text: str, tmp_path: Path) -> None:
    (tmp_path / "cost.csv").write_text(text)
    with pytest.raises(WarlabError, match=r"The cost .*cost\.csv"):
        read_matrix(tmp_path / "cost.csv", ["a", "b"])
    count("hostile file")


@pytest.mark.parametrize("change", ["{}\n", "{}\n \n", "{},,\n", "\ufeff{}", "\n{}"])
def test_a_cost_may_be_saved_by_any_spreadsheet(change: str, tmp_path: Path) -> None:
    text = change.format("class,a,b\na,0,1\nb,1,0\n")
    for end in ("\n", "\r\n"):
        (tmp_path / "cost.csv").write_text(text.replace("\n", end), newline="")
        assert (read_matrix(tmp_path / "cost.csv", ["a", "b"]) == 1 - np.eye(2)).all()


# ---- names


@pytest.mark.parametrize(
    "names", [HOSTILE_NAMES, ["NA", "null", "nan", ""], ["01", "1", "1.0", "+1"], ["a,b", 'a"b', " a"]]
)
def test_class_names_of_any_kind_survive_a_cost_file(names: list[str], tmp_path: Path) -> None:
    cost = make_cost("zero_one", CostInputs(names, names), {}).matrix
    (tmp_path / "cost.csv").write_text(matrix_text(cost, names))
    assert (read_matrix(tmp_path / "cost.csv", names) == cost).all()
    with pytest.raises(WarlabError, match="has other classes"):
        read_matrix(tmp_path / "cost.csv", [f"{name}x" for name in names])


@pytest.mark.parametrize("name", ["matrices", "flipped_samples"])
def test_class_names_are_drawn_literally(name: str) -> None:
    """Two dollar signs do not start a formula."""
    inputs = figure_inputs()
    names = [f"$x_{{$ {k} \\input{{evil}}" for k in range(5)]
    inputs = replace(
        inputs,
        noise=[replace(one, manifest=replace(one.manifest, class_names=names)) for one in inputs.noise],
        costs=[replace(one, provenance=replace(one.provenance, class_names=names)) for one in inputs.costs],
        data={key: replace(one, about=replace(one.about, class_names=names)) for key, one in inputs.data.items()},
    )
    figure, _ = make(name, inputs)
    figure.canvas.draw()
    assert "x_{" in texts(figure)
