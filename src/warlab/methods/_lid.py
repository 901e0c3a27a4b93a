"""Local intrinsic dimensionality (LID) by maximum likelihood from distances to near neighbours.

    LID(x) = - k / sum_{j=1..k} log( r_j(x) / r_k(x) + 1e-8 )        r_j the distance to the j-th neighbour

Amsaleg et al., Estimating local intrinsic dimensionality, 2015; the constant is in the code of D2L.
"""

import torch
from torch import Tensor


def lid(points: Tensor, neighbours: int) -> Tensor:
    """(n, d) → (n,), neighbours looked for among the n points themselves; NaN for a single point."""
    k = min(neighbours, len(points) - 1)
    # Not by matrix products, whose rounding is as large as the distances of near neighbours.
    distances = torch.cdist(points, points, compute_mode="donot_use_mm_for_euclid_dist")
    near = distances.fill_diagonal_(torch.inf).sort(1).values[:, :k]
    ratios = near / near[:, -1:].clamp_min(torch.finfo(points.dtype).tiny) if k else near
    return -k / torch.log(ratios + 1e-8).sum(1)
