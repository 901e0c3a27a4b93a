"""A toy task in the plane that shows what each regulariser does: three classes, two of them close to each other, and
some points of one of these two labelled as the third.

The paper shows such a figure without numbers. Here they are scikit-learn's blobs, red and orange 1.5 apart and black
further away; a tenth of the red points are labelled black. Moving mass between red and black costs 0.1, between the
others 1, so that WAR may leave the boundary of red and black complex. (That is Proposition 2; the paper's text on its
figure says the opposite, see config/fidelity.yaml.)
"""

import numpy as np
import torch
from sklearn.datasets import make_blobs
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from warlab.common.seeds import derive_seed
from warlab.war import AdversarialLoss, ARLoss, TVLoss, WARLoss, probabilities
from warlab.war.perturbation import XI_SAME_MASKS, perturbation

CLASSES = ("orange", "red", "black")
CENTRES = ((-0.75, 0.0), (0.75, 0.0), (0.6, 3.2))
COST = ((0.0, 1.0, 1.0), (1.0, 0.0, 0.1), (1.0, 0.1, 0.0))
PREDICTION = (0.15, 0.70, 0.15)  # the fixed prediction that the divergences are drawn around
OF_CLASS, PLANTED = 80, 8  # points of each class, and red points that are labelled black
SIDE = 121  # points of the drawn grid in each direction
STEPS, WARM_UP, BETA, EPSILON = 300, 80, 8.0, 0.4


class L2Loss(AdversarialLoss):
    """||p(x + r) - p(x)||^2, the divergence without any geometry of classes that the paper compares with."""

    def divergence(self, adversarial: Tensor, clean: Tensor) -> Tensor:
        return (adversarial - clean).square().sum(1)


def regularisers() -> dict[str, AdversarialLoss | None]:
    """Return the columns of the paper's figure."""
    cost = torch.tensor(COST)
    return {
        "CCE": None,
        "WAR, λ = 0.1": WARLoss(cost, 0.1, epsilon=EPSILON, dropout="off"),
        "WAR, λ = 0.05": WARLoss(cost, 0.05, epsilon=EPSILON, dropout="off"),
        "TV": TVLoss(epsilon=EPSILON, dropout="off"),
        "KL (AR)": ARLoss("paper", epsilon=EPSILON, dropout="off"),
        "L2": L2Loss(epsilon=EPSILON, dropout="off"),
    }


def draw_points() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points (N, 2), their true classes, and the labels to train on, which call some red points black."""
    x, true = make_blobs([OF_CLASS] * 3, centers=np.array(CENTRES), cluster_std=0.45, random_state=0)
    order = np.argsort(np.linalg.norm(x - CENTRES[1], axis=1))
    red = [i for i in order if true[i] == 1]
    labels = true.copy()
    labels[red[: 3 * PLANTED : 3]] = 2  # well inside the cloud, apart from each other
    return x.astype(np.float32), true, labels


def train(x: np.ndarray, labels: np.ndarray, regulariser: AdversarialLoss | None, steps: int) -> nn.Sequential:
    """Train by Adam on all points in every step, with the regulariser after the warm-up."""
    torch.manual_seed(derive_seed("toy", 0))
    net = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3))
    optimiser = torch.optim.Adam(net.parameters(), lr=5e-3)
    inputs, targets = torch.from_numpy(x), torch.from_numpy(labels)
    for step in range(steps):
        logits = net(inputs)
        loss = cross_entropy(logits, targets)
        if regulariser is not None and step >= WARM_UP:
            loss = loss + BETA * regulariser(net, inputs, logits)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return net.eval()


def grid_axes(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the axes of a grid around all points."""
    low, high = x.min(0) - 0.6, x.max(0) + 0.6
    return np.linspace(low[0], high[0], SIDE), np.linspace(low[1], high[1], SIDE)


def predict_grid(net: nn.Module, axes: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return probabilities (SIDE, SIDE, 3) on the grid, rows from low to high."""
    grid = np.stack(np.meshgrid(*axes), axis=2).reshape(-1, 2).astype(np.float32)
    with torch.no_grad():
        return probabilities(net(torch.from_numpy(grid))).numpy().reshape(SIDE, SIDE, 3)


def simplex(side: int = 80) -> np.ndarray:
    """Points of the 3-class simplex, the corners included."""
    steps = [(i, j, side - i - j) for i in range(side + 1) for j in range(side + 1 - i)]
    return np.array(steps) / side


def divergences(at: np.ndarray) -> dict[str, np.ndarray]:
    """Return the divergence of each regulariser between points of the simplex and PREDICTION; 0 for CCE."""
    adversarial = torch.from_numpy(np.clip(at, 1e-6, None)).double()
    adversarial /= adversarial.sum(1, keepdim=True)
    clean = torch.tensor(PREDICTION, dtype=torch.float64).expand_as(adversarial)
    return {
        name: np.zeros(len(at)) if loss is None else loss.divergence(adversarial, clean).numpy()
        for name, loss in regularisers().items()
    }


def directions(net: nn.Module, loss: AdversarialLoss, x: np.ndarray) -> np.ndarray:
    """Return the adversarial perturbation of each point, (N, 2)."""
    inputs = torch.from_numpy(x)
    with torch.no_grad():
        clean = probabilities(net(inputs))
    r = perturbation(lambda z: probabilities(net(z)), loss.divergence, inputs, clean, EPSILON, xi=XI_SAME_MASKS)
    return r.numpy()


def compute(steps: int = STEPS) -> dict[str, np.ndarray]:
    """Compute the arrays behind the two figures of the toy task."""
    (x, true, labels), losses = draw_points(), regularisers()
    axes, at = grid_axes(x), simplex()
    nets = {name: train(x, labels, loss, steps) for name, loss in losses.items()}
    before = train(x, labels, None, WARM_UP)
    pair = {"AR": losses["KL (AR)"], "WAR": losses["WAR, λ = 0.05"]}
    moved = [directions(before, loss, x) for loss in pair.values() if loss is not None]
    return {
        "x": x,
        "true": true,
        "given": labels,
        "axis_x": axes[0],
        "axis_y": axes[1],
        "names": np.array(list(losses)),
        "regions": np.stack([predict_grid(net, axes) for net in nets.values()]),
        "simplex": at,
        "values": np.stack(list(divergences(at).values())),
        "prediction": np.array(PREDICTION),
        "cost": np.array(COST),
        "classes": np.array(CLASSES),
        "pair": np.array(list(pair)),
        "before": predict_grid(before, axes),
        "directions": np.stack(moved),
        "after": np.stack([predict_grid(nets[name], axes) for name in ("KL (AR)", "WAR, λ = 0.05")]),
    }
