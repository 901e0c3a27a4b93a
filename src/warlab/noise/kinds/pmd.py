"""Polynomial-margin-diminishing noise (PMD): labels are wrong where a classifier of clean labels hesitates.

With η(x) the probabilities of the classes, u and s the two largest of them, and the margin m = η_u - η_s,

    type I:    k = ½ + ½ m²
    type II:   k = m³
    type III:  k = ⅓ (m³ + m² + m)

    P(label = u | x) = min(1, k / f),   P(label = s | x) = 1 - P(label = u | x)

The factor f is chosen such that the share of labels that differ from the true ones is the percentage in the id. This is
label_noise in the code of Zhang et al., Learning with feature-dependent label noise: a progressive approach, 2021; k is
its 1 - f_us. Labels that are neither u nor s become one of them, as there. Below 1, a factor is our extension: it makes
less noise than the code can. For two classes that code has other formulas, by which only one class flips; they are not
used here.

There η comes from a ResNet-34 after 25 epochs. Here it comes from a multinomial logistic regression on the samples, so
that the noise is made from the data alone.
"""

import numpy as np

from warlab.errors import WarlabError
from warlab.noise.kinds._per_sample import PerSampleNoise, Probabilities
from warlab.noise.kinds.base import DataArrays, NoiseRequest

KEPT = {
    "pmd1": lambda m: (1 + m**2) / 2,
    "pmd2": lambda m: m**3,
    "pmd3": lambda m: (m**3 + m**2 + m) / 3,
}
PENALTY, STEPS = 1e-3, 100  # of the regression: half the weight of its squared norm, and iterations of L-BFGS


class MarginNoise(PerSampleNoise):
    def probabilities(self, request: NoiseRequest, data: DataArrays, rng: np.random.Generator) -> Probabilities:
        clean, rate = data["train_y"], request.id.rate
        order, kept = keep(posterior(data["train_x"], clean, len(request.class_names)), request.id.kind)
        kept = np.minimum(1, kept / factor(order, kept, clean, rate, request.noise))

        def of_class(members: np.ndarray, label: int) -> np.ndarray:
            p, rows = np.zeros((len(members), len(request.class_names))), np.arange(len(members))
            p[rows, order[members, 0]], p[rows, order[members, 1]] = kept[members], 1 - kept[members]
            return p

        return of_class


def keep(eta: np.ndarray, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the two most probable classes (N, 2), and the k of a type of noise (N,)."""
    order = np.argsort(-eta, axis=1, kind="stable")[:, :2]
    first, second = np.take_along_axis(eta, order, axis=1).T
    return order, KEPT[kind](first - second)


def factor(order: np.ndarray, kept: np.ndarray, clean: np.ndarray, rate: float, noise: str) -> float:
    """Return the factor f with which the expected share of wrong labels is `rate`, found by bisection."""
    first, second = (order == clean[:, None]).T

    def share(f: float) -> float:
        p = np.minimum(1, kept / f)
        return float(1 - (first * p + second * (1 - p)).mean())

    low, high = 1e-6, 1e6
    if not share(low) <= rate <= share(high):
        raise WarlabError(
            f"The noise {noise} cannot be had: on these data it gives between {100 * share(low):.1f} and "
            f"{100 * share(high):.1f} % wrong labels; choose a percentage between them, or another noise."
        )
    for _ in range(100):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if share(middle) < rate else (low, middle)
    return high


def posterior(x: np.ndarray, y: np.ndarray, classes: int) -> np.ndarray:
    """Return P(class | x) of the training samples, (N, C), by multinomial logistic regression on standardised x."""
    from scipy import optimize, special  # slow to import, and the plan of every study reads this module

    flat = x.reshape(len(x), -1).astype(np.float32)
    # Summed in float64: in float32 a column such as a year, far from 0 for its spread, would not be standardised.
    flat -= flat.mean(axis=0, dtype=np.float64)
    deviation = np.sqrt(np.einsum("nd,nd->d", flat, flat, dtype=np.float64) / len(flat))
    flat /= np.where(deviation > 0, deviation, 1)  # a constant column stays 0
    flat = np.hstack([flat, np.ones((len(x), 1), np.float32)])
    shape, rows = (flat.shape[1], classes), np.arange(len(y))

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        w = weights.reshape(shape)
        log_p = special.log_softmax(flat @ w.astype(np.float32), axis=1).astype(np.float64)
        error = np.exp(log_p)
        error[rows, y] -= 1
        gradient = flat.T @ error.astype(np.float32) / len(y) + PENALTY * w
        return float(-log_p[rows, y].mean() + PENALTY / 2 * (w**2).sum()), gradient.ravel().astype(np.float64)

    found = optimize.minimize(loss, np.zeros(shape).ravel(), jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
    return special.softmax((flat @ found.x.reshape(shape).astype(np.float32)).astype(np.float64), axis=1)


KIND = MarginNoise({kind: f"of type {kind[3:]} (polynomial margin)" for kind in KEPT})
