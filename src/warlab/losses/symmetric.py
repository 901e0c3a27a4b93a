"""SL: symmetric cross entropy."""

import math
from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import cross_entropy

from warlab.losses.base import RobustLoss
from warlab.losses.probabilities import label_probability


@dataclass(eq=False, repr=False)
class SymmetricCrossEntropyLoss(RobustLoss):
    r"""Symmetric cross entropy: the usual one plus its reverse, in which prediction and label change places.

    .. math:: L(p, y) = - a \log p_y - b \sum_c p_c \log \text{clip}(y_c) = - a \log p_y - b A (1 - p_y)

    where A is the logarithm of `zero`, which stands for the zeros of a one-hot label.

    Parameters
    ----------
    a, b : float
        Weights of the cross entropy and of its reverse. Defaults 0.1 and 1: the authors' code for CIFAR-10. With
        a = 1 and b = 0 it is the cross entropy.
    zero : float
        Above 0 and at most 1. Default 1e-4: the authors.
    reduction : "mean" or "none"
        The mean over the batch, or one value per label. Default "mean".

    Examples
    --------
    >>> import torch
    >>> from warlab.losses import SymmetricCrossEntropyLoss
    >>> logits, labels = torch.tensor([[0.5, 0.3, 0.2]]).log(), torch.tensor([1])
    >>> round(SymmetricCrossEntropyLoss()(logits, labels).item(), 4)  # 0.1 * 1.2040 + 9.2103 * 0.7
    6.5676

    References
    ----------
    Wang, Ma, Chen, Luo, Yi, Bailey: Symmetric cross entropy for robust learning with noisy labels, 2019.
    """

    a: float = 0.1
    b: float = 1.0
    zero: float = 1e-4

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_numbers("a", "b", rule="0 or more", least=0)
        self.check_numbers("zero", rule="above 0 and at most 1", above=0, most=1)

    def compute(self, logits: Tensor, labels: Tensor) -> Tensor:
        reverse = -math.log(self.zero) * self.reduce(1 - label_probability(logits, labels))
        return self.a * cross_entropy(logits, labels, reduction=self.reduction) + self.b * reverse
