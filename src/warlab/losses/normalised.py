"""NCE+RCE and NCE+AGCE: the normalised cross entropy with a second, bounded loss."""

import math
from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import log_softmax

from warlab.losses.base import RobustLoss
from warlab.losses.probabilities import label_probability

ZERO = 1e-4  # for the zeros of a one-hot label in a logarithm


@dataclass(eq=False, repr=False)
class NCERCELoss(RobustLoss):
    r"""Normalised and reverse cross entropy: one asks for the label, the other against all other classes.

    .. math:: L(p, y) = \alpha \frac{\log p_y}{\sum_c \log p_c} - \beta \log(10^{-4}) \, (1 - p_y)

    Parameters
    ----------
    alpha, beta : float
        Weights of the two. Defaults 1 and 1: the authors' code for CIFAR-10 (10 and 0.1 for CIFAR-100).
    reduction : "mean" or "none"
        The mean over the batch, or one value per label. Default "mean".

    Examples
    --------
    >>> import torch
    >>> from warlab.losses import NCERCELoss
    >>> logits, labels = torch.tensor([[0.5, 0.3, 0.2]]).log(), torch.tensor([1])
    >>> round(NCERCELoss()(logits, labels).item(), 4)  # log 0.3 / log 0.03 + 9.2103 * 0.7
    6.7906

    References
    ----------
    Ma, Huang, Wang, Romano, Erfani, Bailey: Normalized loss functions for deep learning with noisy labels, 2020.
    """

    alpha: float = 1.0
    beta: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_numbers("alpha", "beta", rule="0 or more", least=0)

    def compute(self, logits: Tensor, labels: Tensor) -> Tensor:
        reverse = -math.log(ZERO) * (1 - label_probability(logits, labels))
        return self.reduce(self.alpha * normalised_cross_entropy(logits, labels) + self.beta * reverse)


@dataclass(eq=False, repr=False)
class NCEAGCELoss(RobustLoss):
    r"""Normalised cross entropy and an asymmetric loss, robust while most labels of a class are right.

    .. math:: L(p, y) = \alpha \frac{\log p_y}{\sum_c \log p_c} + \beta \frac{(a + 1)^q - (a + p_y)^q}{q}

    Parameters
    ----------
    alpha, beta : float
        Weights of the two. Defaults 1 and 4: the authors' code for CIFAR-10 (10 and 0.1 for CIFAR-100).
    a, q : float
        Both above 0. Defaults 6 and 1.5: the authors' code for CIFAR-10 (1.8 and 3 for CIFAR-100).
    reduction : "mean" or "none"
        The mean over the batch, or one value per label. Default "mean".

    Examples
    --------
    >>> import torch
    >>> from warlab.losses import NCEAGCELoss
    >>> logits, labels = torch.tensor([[0.5, 0.3, 0.2]]).log(), torch.tensor([1])
    >>> round(NCEAGCELoss()(logits, labels).item(), 4)  # log 0.3 / log 0.03 + 4 (7^1.5 - 6.3^1.5) / 1.5
    7.563

    References
    ----------
    Zhou, Liu, Jiang, Gao, Ji: Asymmetric loss functions for learning with noisy labels, 2021.
    """

    alpha: float = 1.0
    beta: float = 4.0
    a: float = 6.0
    q: float = 1.5

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_numbers("alpha", "beta", rule="0 or more", least=0)
        self.check_numbers("a", "q", rule="above 0", above=0)

    def compute(self, logits: Tensor, labels: Tensor) -> Tensor:
        asymmetric = ((self.a + 1) ** self.q - (self.a + label_probability(logits, labels)) ** self.q) / self.q
        return self.reduce(self.alpha * normalised_cross_entropy(logits, labels) + self.beta * asymmetric)


def normalised_cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """log p_y / sum_c log p_c (B,), in [0, 1]"""
    log_p = log_softmax(logits, 1)
    return log_p.gather(1, labels[:, None])[:, 0] / log_p.sum(1)
