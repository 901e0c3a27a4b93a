"""A random cost, standard normal entries with zero diagonal: `raw` as drawn (signed), `abs_sym` = (|G| + |G|^T) / 2."""

import numpy as np

from warlab.common.seeds import derive_seed
from warlab.errors import WarlabError
from warlab.ot.costs.base import CostInputs, Made, Origin


def make(inputs: CostInputs, seed: int = 0, variant: str = "abs_sym") -> Made:
    if variant not in ("raw", "abs_sym"):
        raise WarlabError(f"A random cost is raw or abs_sym, not {variant!r}.")
    n = len(inputs.class_names)
    cost = np.random.default_rng(derive_seed("random cost", n, seed)).standard_normal((n, n))
    if variant == "abs_sym":
        cost = (np.abs(cost) + np.abs(cost).T) / 2
    np.fill_diagonal(cost, 0.0)
    return cost, Origin(f"standard normal, seed {seed}, {variant}")
