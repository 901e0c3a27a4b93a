"""The ground costs of the workflow: C[i, j] is what it costs to move probability from class i to class j.

Every kind is a file of this folder with a function `make`; `base.py` is its contract. Outside of the workflow call the
helpers of `warlab.ot.ground`.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from warlab.artefacts.ground_cost import GroundCost, Provenance
from warlab.registry import Registry

if TYPE_CHECKING:
    from warlab.ot.costs.base import CostInputs

COSTS = Registry("warlab.ot.costs", "ground cost")
PUBLISHED = "published"  # a value of `vectors` of the cost w2v, which then needs no file
kinds = COSTS.names
module = COSTS.module


def reads_labels(kind: str) -> bool:
    """Return whether a cost depends on the noisy labels, so that it is made for every noise and seed."""
    return bool(COSTS.literals(kind).get("READS_LABELS", False))


def needs_order(kind: str) -> bool:
    """Return whether a cost is for classes with an order."""
    return bool(COSTS.literals(kind).get("NEEDS_ORDER", False))


def user_files(kind: str, settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the user's files that a cost is made from, by the setting that names them."""
    named = {key: settings.get(key) for key in COSTS.literals(kind).get("USER_FILES", ())}
    return {key: file for key, file in named.items() if file not in (None, PUBLISHED)}


def make_cost(kind: str, inputs: "CostInputs", settings: Mapping[str, Any]) -> GroundCost:
    """Make the cost matrix (C, C) in float64, with its provenance."""
    matrix, origin = COSTS.load(kind).make(inputs, **settings)
    kept = {name: getattr(inputs, name) for name in ("dataset", "data", "key", "features")}
    about = Provenance(cost=kind, settings=dict(settings), class_names=list(inputs.class_names), **kept, **vars(origin))
    return GroundCost(matrix, about)
