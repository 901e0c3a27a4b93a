"""A task in the plane on which one can see what each regulariser does: three classes, two of them close to each other,
and labels of the far one planted in one of the close ones.

The paper shows such a figure and gives no numbers for it. Ours: scikit-learn's blobs, red and orange 1.5 apart, black
further off; a tenth as many points labelled black as red has lie in the red cloud; moving mass between red and black
costs 0.1, between the others 1, so WAR may leave the boundary of red and black as complex as it likes. (That is
Proposition 2; the paper's sentence on its figure says the opposite, see config/fidelity.yaml.)
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from sklearn.datasets import make_blobs
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from warlab.adversarial import perturbation
from warlab.common.seeds import derive_seed
from warlab.war import AdversarialLoss, ARLoss, TVLoss, WARLoss, probabilities

CLASSES = ("orange", "red", "black")
CENTRES = ((-0.75, 0.0), (0.75, 0.0), (0.6, 3.2))
COST = ((0.0, 1.0, 1.0), (1.0, 0.0, 0.1), (1.0, 0.1, 0.0))
PREDICTION = (0.15, 0.70, 0.15)  # the fixed prediction that the divergences are drawn around
SIDE = 121  # points of the drawn grid in each direction
STEPS, WARM_UP, BETA, EPSILON = 300, 80, 8.0, 0.4


class L2Loss(AdversarialLoss):
    """||p(x + r) - p(x)||^2, the divergence without any geometry of classes that the paper compares with."""

    def divergence(self, adversarial: Tensor, clean: Tensor) -> Tensor:
        return (adversarial - clean).square().sum(1)


def regularisers() -> dict[str, AdversarialLoss | None]:
    """The columns of the paper's figure."""
    cost = torch.tensor(COST)
    return {
        "CCE": None,
        "WAR, λ = 0.1": WARLoss(cost, 0.1, epsilon=EPSILON, dropout="off"),
        "WAR, λ = 0.05": WARLoss(cost, 0.05, epsilon=EPSILON, dropout="off"),
        "TV": TVLoss(epsilon=EPSILON, dropout="off"),
        "KL (AR)": ARLoss("paper", epsilon=EPSILON, dropout="off"),
        "L2": L2Loss(epsilon=EPSILON, dropout="off"),
    }


@dataclass(frozen=True)
class Points:
    x: np.ndarray  # (N, 2)
    true: np.ndarray
    given: np.ndarray  # the labels trained on


def points(n: int = 80, planted: int = 8, seed: int = 0) -> Points:
    """`n` points of each class, `planted` of the red ones labelled black."""
    x, true = make_blobs([n] * 3, centers=np.array(CENTRES), cluster_std=0.45, random_state=seed)
    order = np.argsort(np.linalg.norm(x - CENTRES[1], axis=1))
    red = [i for i in order if true[i] == 1]
    given = true.copy()
    given[red[: 3 * planted : 3]] = 2  # well inside the cloud, apart from each other
    return Points(x.astype(np.float32), true, given)


def network(seed: int = 0, sizes: tuple[int, ...] = (2, 64, 64, 3)) -> nn.Sequential:
    torch.manual_seed(derive_seed("toy", seed))
    layers = [layer for a, b in pairwise(sizes) for layer in (nn.Linear(a, b), nn.ReLU())]
    return nn.Sequential(*layers[:-1])


def train(data: Points, regulariser: AdversarialLoss | None, steps: int = STEPS, seed: int = 0) -> nn.Sequential:
    """All points in every step, Adam; the regulariser begins after the warm-up."""
    net = network(seed)
    optimiser = torch.optim.Adam(net.parameters(), lr=5e-3)
    x, y = torch.from_numpy(data.x), torch.from_numpy(data.given)
    for step in range(steps):
        logits = net(x)
        loss = cross_entropy(logits, y)
        if regulariser is not None and step >= WARM_UP:
            loss = loss + BETA * regulariser(net, x, logits)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return net.eval()


def plane(data: Points) -> tuple[np.ndarray, np.ndarray]:
    """Axes of a grid around all points."""
    low, high = data.x.min(0) - 0.6, data.x.max(0) + 0.6
    return np.linspace(low[0], high[0], SIDE), np.linspace(low[1], high[1], SIDE)


def predicted(net: nn.Module, axes: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Probabilities (SIDE, SIDE, 3) on the grid, rows from low to high."""
    grid = np.stack(np.meshgrid(*axes), axis=2).reshape(-1, 2).astype(np.float32)
    with torch.no_grad():
        return probabilities(net(torch.from_numpy(grid))).numpy().reshape(SIDE, SIDE, 3)


def simplex(side: int = 80) -> np.ndarray:
    """Points of the 3-class simplex, the corners included."""
    steps = [(i, j, side - i - j) for i in range(side + 1) for j in range(side + 1 - i)]
    return np.array(steps) / side


def divergences(at: np.ndarray) -> dict[str, np.ndarray]:
    """What each regulariser says of a prediction on the simplex, compared with PREDICTION; nothing for CCE."""
    adversarial = torch.from_numpy(np.clip(at, 1e-6, None)).double()
    adversarial /= adversarial.sum(1, keepdim=True)
    clean = torch.tensor(PREDICTION, dtype=torch.float64).expand_as(adversarial)
    return {
        name: np.zeros(len(at)) if loss is None else loss.divergence(adversarial, clean).numpy()
        for name, loss in regularisers().items()
    }


def directions(net: nn.Module, loss: AdversarialLoss, x: np.ndarray) -> np.ndarray:
    """The adversarial perturbation of each point, (N, 2)."""
    given = torch.from_numpy(x)
    with torch.no_grad():
        clean = probabilities(net(given))
    divergence: Callable[[Tensor, Tensor], Tensor] = loss.divergence
    return perturbation(lambda z: probabilities(net(z)), divergence, given, clean, EPSILON, "sum").numpy()


def compute(steps: int = STEPS) -> dict[str, np.ndarray]:
    """All that the two figures of the plane show, as arrays."""
    data, losses = points(), regularisers()
    axes, at = plane(data), simplex()
    nets = {name: train(data, loss, steps) for name, loss in losses.items()}
    before = train(data, None, WARM_UP)
    pair = {"AR": losses["KL (AR)"], "WAR": losses["WAR, λ = 0.05"]}
    moved = [directions(before, loss, data.x) for loss in pair.values() if loss is not None]
    return {
        "x": data.x,
        "true": data.true,
        "given": data.given,
        "axis_x": axes[0],
        "axis_y": axes[1],
        "names": np.array(list(losses)),
        "regions": np.stack([predicted(net, axes) for net in nets.values()]),
        "simplex": at,
        "values": np.stack(list(divergences(at).values())),
        "prediction": np.array(PREDICTION),
        "cost": np.array(COST),
        "classes": np.array(CLASSES),
        "pair": np.array(list(pair)),
        "before": predicted(before, axes),
        "directions": np.stack(moved),
        "after": np.stack([predicted(nets[name], axes) for name in ("KL (AR)", "WAR, λ = 0.05")]),
    }
