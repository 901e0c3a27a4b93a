"""The checks of a ground cost that need nothing but numpy: `WARLoss`, the helpers and `verify_cost` share them."""

from collections.abc import Iterable

import numpy as np

from warlab.artefacts.ground_cost import Check
from warlab.errors import WarlabError


def check_square(cost: np.ndarray) -> None:
    if cost.ndim != 2 or cost.shape[0] != cost.shape[1] or not cost.size or not np.isfinite(cost).all():
        raise WarlabError(
            f"A cost must be a square matrix of finite numbers, one row per class, not shape {tuple(cost.shape)} "
            f"with {int((~np.isfinite(cost)).sum())} entries that are not finite; correct the cost."
        )


def basic_checks(cost: np.ndarray, signed: bool, rounding: float = 1e-12) -> list[Check]:
    """`signed` permits the raw random costs of the paper; `rounding` is what two equal entries may differ by."""
    return [
        Check("diagonal", np.abs(np.diag(cost)).max(), 0.0, "staying in a class is free"),
        Check("symmetry", np.abs(cost - cost.T).max(), rounding, "both ways cost the same", not signed),
        Check("sign", max(0.0, -cost.min()), 0.0, "no negative cost", not signed),
    ]


def triangle(cost: np.ndarray) -> Check:
    through = np.stack([(row[:, None] + cost).min(0) for row in cost])  # the cheapest way over one class between
    return Check("triangle", (cost - through).max(), 1e-12, "no detour is cheaper (the cost is a metric)", False)


def refuse_failed(checks: Iterable[Check], name: str) -> None:
    for check in checks:
        if check.required and not check.passed:
            raise WarlabError(
                f"The cost {name} fails the check {check.name!r} ({check.meaning}): {check.value:g} is above "
                f"{check.limit:g}; fix the cost matrix, training will not start until it passes."
            )


def check_cost(cost: np.ndarray, name: str, signed: bool = False, rounding: float = 1e-12) -> None:
    """Raise an error for a cost that no training may start on."""
    check_square(cost)
    refuse_failed(basic_checks(cost, signed, rounding), name)
