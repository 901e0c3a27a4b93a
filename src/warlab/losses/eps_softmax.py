"""Epsilon-softmax with the cross entropy and the mean absolute error."""

from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import nll_loss

from warlab.losses.base import RobustLoss
from warlab.losses.probabilities import to_one_hot

LEAST = 1e-8  # probability in a logarithm


@dataclass(eq=False, repr=False)
class EpsilonSoftmaxLoss(RobustLoss):
    r"""Epsilon-softmax: the cross entropy of predictions that are nearly one-hot, and the mean absolute error.

    .. math:: \tilde p = \frac{p + m \, e_{\arg\max p}}{m + 1}, \qquad
              L(p, y) = - \alpha \log \tilde p_y + 2 \beta \, (1 - p_y)

    Where the label is the predicted class, the first term is almost zero; elsewhere its gradient is that of the cross
    entropy.

    Parameters
    ----------
    alpha, beta, m : float
        Weights of the two, and how near to one-hot. Defaults 0.02, 5 and 1000: the authors' code for CIFAR-10 with
        asymmetric noise (0.01, 5 and 1e5 for symmetric noise).
    reduction : "mean" or "none"
        The mean over the batch, or one value per label. Default "mean".

    Examples
    --------
    >>> import torch
    >>> from warlab.losses import EpsilonSoftmaxLoss
    >>> logits, labels = torch.tensor([[0.5, 0.3, 0.2]]).log(), torch.tensor([1])
    >>> round(EpsilonSoftmaxLoss()(logits, labels).item(), 4)  # - 0.02 log(0.3 / 1001) + 5 * 2 * 0.7
    7.1623

    References
    ----------
    Wang, Zhou, Zhu, Jiang, Zhao, Liu: Epsilon-softmax: approximating one-hot vectors for mitigating label noise, 2024.
    """

    alpha: float = 0.02
    beta: float = 5.0
    m: float = 1e3

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_numbers("alpha", "beta", "m", rule="0 or more", least=0)

    def compute(self, logits: Tensor, labels: Tensor) -> Tensor:
        p = logits.softmax(1)
        near = (p + self.m * to_one_hot(p.argmax(1), p.shape[1]).to(p)) / (self.m + 1)
        absolute = 2 * self.reduce(1 - p.gather(1, labels[:, None])[:, 0])
        entropy = nll_loss(near.clamp_min(LEAST).log(), labels, reduction=self.reduction)
        return self.alpha * entropy + self.beta * absolute
