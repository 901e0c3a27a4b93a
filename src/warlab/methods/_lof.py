"""Local outlier factor: how much sparser the surroundings of a point are than those of its neighbours.

    reach(a, b) = max(k-distance(b), d(a, b)),   density(a) = 1 / mean_{b in N_k(a)} reach(a, b)
    LOF(a) = mean_{b in N_k(a)} density(b) / density(a)        about 1 inside a cluster, larger outside

Breunig et al., LOF: identifying density-based local outliers, 2000.
"""

import torch
from torch import Tensor
from torch.nn.functional import normalize


def local_outlier_factor(points: Tensor, neighbours: int) -> Tensor:
    """(n, d) → (n,) under the cosine distance, in float64; a point without neighbours has 1."""
    k = min(max(1, neighbours), len(points) - 1)
    if k < 1:
        return torch.ones(len(points), dtype=torch.float64, device=points.device)
    unit = normalize(points.double())
    distances = (1 - unit @ unit.T).clamp_min(0).fill_diagonal_(torch.inf)
    near, who = distances.topk(k, largest=False)
    reach = torch.maximum(near, near[:, -1][who])
    density = 1 / (reach.mean(1) + 1e-10)  # duplicates have no distance
    return density[who].mean(1) / density
