"""For classes with an order, such as grades: neighbours resemble each other.

D[i, j] = |i - j|,   C = exp(-D / max(D)),   C[i, i] = 0
"""

import numpy as np

from warlab.errors import WarlabError
from warlab.ot.costs.base import CostInputs, Made, Origin
from warlab.ot.points import from_distances

NEEDS_ORDER = True


def make(inputs: CostInputs) -> Made:
    if not inputs.ordered:
        raise WarlabError(
            f"The cost {inputs.key or 'ordinal'} needs classes with an order, and those of {inputs.dataset} have none; "
            "choose another cost, or begin the classes.txt of your own data with the line '# ordered'."
        )
    number = np.arange(len(inputs.class_names))
    return from_distances(np.abs(np.subtract.outer(number, number))), Origin("the order of the classes")
