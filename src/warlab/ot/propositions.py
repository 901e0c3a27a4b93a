"""The paper's propositions in numbers: how often each statement fails on random predictions.

Proposition 1 says that AR is label smoothing; with gamma = beta / (1 + beta), q = p(x + r) and p = p(x)

    (1 - gamma) [CE(y, p) + beta KL(q || p)]  =  CE((1 - gamma) y + gamma q, p) - gamma H(q)

Proposition 2 bounds transport from below by a weighted total variation. As printed its middle term is twice too
large (two classes, cost 1, opposite predictions: transport 1, middle term 2); with the factor 1/2 it holds.
"""

from collections.abc import Iterator

import numpy as np
from numpy import ndarray

from warlab.common.seeds import derive_seed
from warlab.ot.points import from_points
from warlab.ot.verify import CONVERGED, couplings, exact_transport, lower_bounds, prediction_pairs

LAMBDA = 0.05
BETAS = (0.5, 1.0, 5.0, 10.0, 20.0)
PAIRS = 50
EXACT = 1e-10  # an identity, up to rounding in float64
SOLVER = 1e-7  # of the linear program


def report() -> dict[str, dict[str, float]]:
    """Return for each statement whether it holds, its trials, how many of them fail, and the largest violation."""
    costs = list(_costs())
    statements = {
        "proposition_1": _statement([_smoothing_gap(beta, "paper") for beta in BETAS], EXACT),
        "proposition_1_code_order": _statement([_smoothing_gap(beta, "code") for beta in BETAS], EXACT),
        "transport_below_total_variation": _statement([_excess(cost) for cost in costs], SOLVER),
        "zero_one_is_total_variation": _statement([np.abs(_excess(1 - np.eye(n))) for n in (2, 3, 10)], SOLVER),
    }
    return statements | _bounds(costs)


def _statement(violations: list[ndarray], limit: float) -> dict[str, float]:
    every = np.concatenate(violations)
    failed = int((every > limit).sum())
    return {"holds": failed == 0, "trials": len(every), "failed": failed, "largest": float(every.max())}


def _costs() -> Iterator[ndarray]:
    """0-1 costs, and costs between random points, as the paper makes them from embeddings."""
    for classes in (2, 3, 10):
        yield 1 - np.eye(classes)
    for classes in (3, 10):
        generator = np.random.default_rng(derive_seed("propositions", classes))
        yield from_points(generator.standard_normal((classes, 8)))


def _smoothing_gap(beta: float, order: str) -> ndarray:
    """|left - right| of Proposition 1 per pair; `code` has KL(p || q) on its left side instead."""
    p, q = prediction_pairs(10, PAIRS)
    y = np.eye(10)[np.arange(PAIRS) % 10]
    gamma = beta / (1 + beta)
    first, second = (q, p) if order == "paper" else (p, q)
    divergence = (first * np.log(first / second)).sum(1)
    left = (1 - gamma) * (_cross_entropy(y, p) + beta * divergence)
    return np.abs(left - _cross_entropy((1 - gamma) * y + gamma * q, p) + gamma * _cross_entropy(q, q))


def _cross_entropy(target: ndarray, p: ndarray) -> ndarray:
    return -(target * np.log(p)).sum(1)


def _excess(cost: ndarray) -> ndarray:
    """Return by how much W exceeds max(C) TV, the upper bound in the paper's text."""
    a, b = prediction_pairs(len(cost), PAIRS)
    return exact_transport(a, b, cost) - cost.max() * 0.5 * np.abs(a - b).sum(1)


def _bounds(costs: list[ndarray]) -> dict[str, dict[str, float]]:
    """Proposition 2 as printed, and as corrected: c TV <= 1/2 sum_k c_k |a_k - b_k| <= W <= OT."""
    printed, corrected = [], []
    for cost in costs:
        a, b = prediction_pairs(len(cost), PAIRS)
        plain, weighted = lower_bounds(a, b, cost)
        exact, entropic = exact_transport(a, b, cost), _entropic(a, b, cost)
        printed.append(np.maximum(plain - 2 * weighted, 2 * weighted - entropic))
        corrected.append(np.max([plain - weighted, weighted - exact, exact - entropic], axis=0))
    return {
        "proposition_2_printed": _statement(printed, SOLVER),
        "proposition_2_corrected": _statement(corrected, SOLVER),
    }


def _entropic(a: ndarray, b: ndarray, cost: ndarray) -> ndarray:
    """Entropic transport, its plans rounded to true couplings: with wrong marginals a plan may cost less than any."""
    values = []
    for plan, x, y in zip(couplings(a, b, cost, LAMBDA, CONVERGED), a, b, strict=True):
        plan = plan * np.minimum(1, x / plan.sum(1))[:, None]  # Altschuler, Weed and Rigollet 2017, algorithm 2
        plan = plan * np.minimum(1, y / plan.sum(0))
        rows, columns = x - plan.sum(1), y - plan.sum(0)
        plan = plan + np.outer(rows, columns) / max(rows.sum(), np.finfo(float).tiny)
        values.append((plan * cost).sum())
    return np.array(values)
