"""Is this ground cost fit for training, and does our Sinkhorn agree with POT on it?

Every check becomes an entry of a JSON file: name, value, limit, and whether training depends on it.
The pairs are drawn like a network's predictions: confident, undecided and in between.
"""

import numpy as np
import ot
import torch

from warlab.artefacts.ground_cost import Check, Verification
from warlab.common.seeds import derive_seed
from warlab.ot.cost_checks import basic_checks, check_square, triangle
from warlab.ot.sinkhorn import needs_log_domain, plan, sinkhorn

CONVERGED = 5000  # iterations after which the plan counts as converged
PAIRS = 16


def verify_cost(cost: np.ndarray, lam: float, iterations: int, signed: bool = False) -> Verification:
    """Run all checks of one cost. `signed` permits the raw random costs of the paper: any sign, not symmetric."""
    check_square(cost)
    a, b = prediction_pairs(len(cost), PAIRS)
    plans, exact = couplings(a, b, cost, lam, CONVERGED), exact_transport(a, b, cost)
    checks = [*basic_checks(cost, signed), triangle(cost), *pot_checks(a, b, cost, lam, iterations, plans, exact)]
    if not signed and all(check.passed for check in checks if check.required):
        checks += proposition_2(*lower_bounds(a, b, cost), exact, (plans * cost).sum((1, 2)))
    return Verification(lam, iterations, PAIRS, ot.__version__, checks)


def prediction_pairs(classes: int, pairs: int) -> tuple[np.ndarray, np.ndarray]:
    """Softmax of normal logits at three temperatures; the second of a pair is near the first or independent."""
    generator = np.random.default_rng(derive_seed("pairs", classes, pairs))
    first = generator.standard_normal((pairs, classes)) * generator.choice([0.5, 2.0, 5.0], (pairs, 1))
    step = generator.standard_normal((pairs, classes)) * generator.choice([0.3, 3.0], (pairs, 1))
    return _softmax(first), _softmax(first + step)


def _softmax(logits: np.ndarray) -> np.ndarray:
    e = np.exp(logits - logits.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def pot_checks(
    a: np.ndarray, b: np.ndarray, cost: np.ndarray, lam: float, iterations: int, plans: np.ndarray, exact: np.ndarray
) -> list[Check]:
    """Compare our converged plans and our value with POT's, and with exact transport, which cannot cost more."""
    short, single = (_value(a, b, cost, lam, iterations, dtype) for dtype in (torch.float64, torch.float32))
    pairs = list(zip(a, b, strict=True))
    pot = np.stack([_pot_plan(x, y, cost, lam, CONVERGED) for x, y in pairs])
    short_pot = np.array([(_pot_plan(x, y, cost, lam, iterations) * cost).sum() for x, y in pairs])
    size = max(1e-3, np.abs(short).max())
    below = exact - (plans * cost).sum((1, 2))
    marginal = np.abs(couplings(a, b, cost, lam, iterations).sum(1) - b).sum(1).mean()
    stage = f"after {iterations} iterations"
    converged = f"largest difference after {CONVERGED} iterations"
    return [
        Check("plan against POT", np.abs(plans - pot).max(), 1e-6, converged),
        Check("value against POT", np.abs(short - short_pot).max() / size, 1e-6, f"relative, {stage}"),
        Check("float32 against float64", np.abs(short - single).max() / size, 1e-5, f"relative, {stage}"),
        Check("exact transport below", below.max(), 1e-6, "ot.emd2 minus ours at convergence"),
        Check("marginal error", marginal, 0.01, f"L1, mean over pairs, {stage}: distance from a coupling", False),
    ]


def lower_bounds(a: np.ndarray, b: np.ndarray, cost: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """c TV and the weighted TV, 1/2 sum_k c_k |a_k - b_k|, per pair; c_k is the smallest cost of leaving class k."""
    smallest = (cost + np.where(np.eye(len(cost)), np.inf, 0.0)).min(1)
    difference = np.abs(a - b)
    return smallest.min() * 0.5 * difference.sum(1), 0.5 * difference @ smallest


def proposition_2(plain: np.ndarray, weighted: np.ndarray, exact: np.ndarray, entropic: np.ndarray) -> list[Check]:
    """c TV <= weighted TV <= W <= OT. The paper prints it without the 1/2, which does not hold."""
    printed = float((2 * weighted > entropic + 1e-6).sum())
    return [
        Check("Proposition 2, left", (plain - weighted).max(), 1e-7, "c TV ≤ weighted TV"),
        Check("Proposition 2, middle", (weighted - exact).max(), 1e-7, "weighted TV ≤ exact transport"),
        Check("Proposition 2, right", (exact - entropic).max(), 1e-6, "exact ≤ entropic transport"),
        Check("Proposition 2 as printed", printed, 0.0, f"violations in {len(plain)} pairs, without the 1/2", False),
    ]


def couplings(a: np.ndarray, b: np.ndarray, cost: np.ndarray, lam: float, iterations: int) -> np.ndarray:
    """Return our plans after so many iterations, in float64: (pairs, C, C)"""
    return plan(torch.from_numpy(a), torch.from_numpy(b), torch.from_numpy(cost), lam, iterations).numpy()


def _value(
    a: np.ndarray, b: np.ndarray, cost: np.ndarray, lam: float, iterations: int, dtype: torch.dtype
) -> np.ndarray:
    first, second, matrix = (torch.from_numpy(t).to(dtype) for t in (a, b, cost))
    return sinkhorn(first, second, matrix, lam, iterations).double().numpy()


def _pot_plan(a: np.ndarray, b: np.ndarray, cost: np.ndarray, lam: float, iterations: int) -> np.ndarray:
    """POT updates in the same order, v and then u; it stops early only where nothing changes any more."""
    log_domain = needs_log_domain(torch.from_numpy(cost), lam)
    solver = ot.bregman.sinkhorn_log if log_domain else ot.bregman.sinkhorn_knopp
    threshold = 0.0 if iterations < CONVERGED else 1e-13
    return solver(a, b, cost, lam, numItermax=iterations, stopThr=threshold, warn=False)


def exact_transport(a: np.ndarray, b: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """W by POT's linear program, per pair."""
    return np.array([ot.emd2(x, y, cost) for x, y in zip(a, b, strict=True)])
