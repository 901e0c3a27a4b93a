"""Iterative: learning with open-set noise by rounds of outlier detection and contrastive training.

Pairs (i, j) of a batch share one network with features g (B, d) and two classifiers p_1, p_2:

    L = mean_ij [ t d_ij^2 + (1 - t) max(1 - d_ij, 0)^2 ] + mean_i CE(p_1(x_i), y_i) + mean_j w_j CE(p_2(x_j), y_j)

d = ||g(x_i) - g(x_j)||. Round 0 pairs samples of the same label (t = 1) and of different ones (t = 0), w = 1. After
every round the local outlier factor of all features of a label gives a score 1 / LOF; the half of a label's samples
with the lowest sum of scores so far is called noisy. From then on i is clean and j is clean of the same label (t = 1),
noisy of the same label (t = 0) or clean of another (t = 0); w = 0.1 for clean j, 0.1 times its mean score for noisy j.
Wang et al., Iterative learning with open-set noisy labels, 2018; as in their code, with pairs drawn inside the batch.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize

from warlab.common.setting import setting
from warlab.methods.base import LOGITS, SELECTED, Batch, Log, Losses, Method, Samples, Step, Task, evaluating, features

BLOCK = 1024  # points whose distances to all others are in memory at once
Pairs = tuple[Tensor, Tensor]  # positions of i and of j in the batch


@dataclass(frozen=True)
class Config:
    # for the 100 epochs of the open-set experiment
    first: int = setting(5, "baseline's code", unit="epochs")  # length of round 0
    period: int = setting(10, "baseline's code", unit="epochs")  # length of every later round
    neighbours: float = setting(0.4, "baseline's code", above=0, maximum=1)  # share of a label's samples; 2000 of 5000
    noisy_share: float = setting(0.5, "baseline's code", minimum=0, maximum=1)
    margin: float = setting(1.0, "baseline's code", minimum=0)
    weight: float = setting(0.1, "baseline's code", minimum=0)  # of the second classifier after round 0


class Algorithm(Method):
    label = "Iterative"
    images_only = True  # pairs of images
    saved = ("scores", "rounds", "noisy")

    def __init__(self, config: Config, task: Task) -> None:
        super().__init__(config, task)
        self.scores = torch.zeros(len(task.labels), device=task.device)  # summed over the rounds
        self.rounds = 0
        self.noisy = torch.zeros(len(task.labels), dtype=torch.bool, device=task.device)

    def extend(self, network: nn.Module) -> nn.Module:
        return Siamese(network)

    def on_epoch_start(self, models: Sequence[nn.Module], step: Step, samples: Samples) -> None:
        since = step.epoch - max(1, self.config.first)
        if since < 0 or since % max(1, self.config.period) != 0:
            return
        with evaluating(*models):
            vectors = torch.cat([features(models[0], batch.x) for batch in samples.ordered_batches()])
        self.detect(vectors)

    def detect(self, features: Tensor) -> None:
        """Add a score for every sample, and choose the noisy half of each label."""
        self.rounds += 1
        for label in range(self.task.classes):
            index = (self.task.labels == label).nonzero()[:, 0]
            if len(index) == 0:
                continue
            factor = local_outlier_factor(features[index], round(self.config.neighbours * len(index)))
            self.scores[index] += (1 / factor).to(self.scores)
            self.noisy[index] = self.scores[index] <= self.scores[index].quantile(self.config.noisy_share)

    def loss(self, models: Sequence[nn.Module], batch: Batch, step: Step) -> tuple[Losses, Log]:
        siamese: Any = models[0]
        features, clean = siamese.features(batch.x), ~self.noisy[batch.index]
        alike, unlike = self.pairs(batch.y, clean)
        second = torch.cat([alike[1], unlike[1]])
        loss = self.contrastive(features, alike, unlike)
        loss = loss + _mean(cross_entropy(siamese.first(features[clean]), batch.y[clean], reduction="none"))
        other = cross_entropy(siamese.second(features[second]), batch.y[second], reduction="none")
        loss = loss + _mean(self.weights(batch.index[second]) * other)
        with evaluating(siamese.network.head):  # one layer only; the loss needs no gradients of it here
            logits = siamese.first(features)
        return loss, {SELECTED: clean[None], LOGITS: logits}

    def pairs(self, y: Tensor, clean: Tensor) -> tuple[Pairs, Pairs]:
        """Pairs with t = 1 and with t = 0: a partner of each kind for every clean sample, if the batch has one."""
        same = y[:, None] == y[None]
        allowed = clean[:, None] & ~torch.eye(len(y), dtype=torch.bool, device=y.device)
        alike = _partners(allowed & same & clean)
        kinds = _partners(allowed & same & ~clean), _partners(allowed & ~same & clean)
        return alike, (torch.cat([k[0] for k in kinds]), torch.cat([k[1] for k in kinds]))

    def contrastive(self, features: Tensor, alike: Pairs, unlike: Pairs) -> Tensor:
        near, far = (_distance(features[i], features[j]) for i, j in (alike, unlike))
        return _mean(torch.cat([near**2, (self.config.margin - far).clamp_min(0) ** 2]))

    def weights(self, index: Tensor) -> Tensor:
        """w of the samples with these indices."""
        if self.rounds == 0:
            return torch.ones_like(self.scores[index])
        return self.config.weight * torch.where(self.noisy[index], self.scores[index] / self.rounds, 1.0)


class Siamese(nn.Module):
    """A network with a second classifier on its features; the first one predicts."""

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.network = network
        self.second = copy.deepcopy(network.head)
        for layer in self.second.modules():
            if isinstance(layer, nn.Linear):
                layer.reset_parameters()

    def features(self, x: Tensor) -> Tensor:
        return features(self.network, x)

    def first(self, features: Tensor) -> Tensor:
        return self.network.head(features)

    def forward(self, x: Tensor) -> Tensor:
        return self.network(x)


def _partners(allowed: Tensor) -> Pairs:
    """Return the rows of (B, B) with an allowed column, and for each a random one of its allowed columns."""
    drawn = torch.rand(allowed.shape, device=allowed.device).masked_fill(~allowed, -1)
    rows = allowed.any(1).nonzero()[:, 0]
    return rows, drawn[rows].argmax(1)


def _distance(a: Tensor, b: Tensor) -> Tensor:
    """Euclidean per row, with a finite gradient where a = b."""
    return ((a - b) ** 2).sum(1).clamp_min(1e-7).sqrt()


def _mean(values: Tensor) -> Tensor:
    """Return the mean, or 0 without values: a batch may hold no pair, or no clean sample."""
    return values.sum() / max(1, len(values))


def local_outlier_factor(points: Tensor, neighbours: int) -> Tensor:
    """How much sparser the surroundings of a point are than those of its neighbours:

        reach(a, b) = max(k-distance(b), d(a, b)),   density(a) = 1 / mean_{b in N_k(a)} reach(a, b)
        LOF(a) = mean_{b in N_k(a)} density(b) / density(a)        about 1 inside a cluster, larger outside

    (n, d) → (n,) under the cosine distance, in float64; a point without neighbours has 1. The distances of BLOCK points
    at a time are in memory, and computed three times. Breunig et al., LOF: identifying density-based local outliers,
    2000.
    """
    n, k = len(points), min(max(1, neighbours), len(points) - 1)
    if k < 1:
        return torch.ones(n, dtype=torch.float64, device=points.device)
    unit = normalize(points.double())
    blocks = torch.arange(n, device=points.device).split(BLOCK)

    def nearest(rows: Tensor) -> tuple[Tensor, Tensor]:
        """Distances to the k nearest points, and their numbers: (rows, k)."""
        distances = (1 - unit[rows] @ unit.T).clamp_min(0)
        distances[torch.arange(len(rows)), rows] = torch.inf
        return distances.topk(k, largest=False)

    def reach(near: Tensor, index: Tensor) -> Tensor:
        return torch.maximum(near, farthest[index]).mean(1)

    farthest = torch.cat([nearest(rows)[0][:, -1] for rows in blocks])
    density = 1 / (torch.cat([reach(*nearest(rows)) for rows in blocks]) + 1e-10)  # duplicates have no distance
    return torch.cat([density[nearest(rows)[1]].mean(1) for rows in blocks]) / density
