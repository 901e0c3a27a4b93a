"""Bootstrapping with soft targets."""

from dataclasses import dataclass

from torch import Tensor

from warlab.losses.base import RobustLoss
from warlab.losses.probabilities import clipped_softmax, to_one_hot


@dataclass(eq=False, repr=False)
class BootstrappingLoss(RobustLoss):
    r"""Soft bootstrapping: the target is a mixture of the label and the network's own prediction.

    .. math:: L(p, y) = - \sum_c (b \, y_c + (1 - b) \, p_c) \log p_c

    The gradient flows through both p, as in the code of Patrini et al., 2017.

    Parameters
    ----------
    b : float
        Share of the label in the target, from 0 to 1. Default 0.95: the authors. With 1 it is the cross entropy.
    reduction : "mean" or "none"
        The mean over the batch, or one value per label. Default "mean".

    Examples
    --------
    >>> import torch
    >>> from warlab.losses import BootstrappingLoss
    >>> logits, labels = torch.tensor([[0.5, 0.3, 0.2]]).log(), torch.tensor([1])
    >>> round(BootstrappingLoss()(logits, labels).item(), 4)  # - 0.025 log 0.5 - 0.965 log 0.3 - 0.01 log 0.2
    1.1953

    References
    ----------
    Reed, Lee, Anguelov, Szegedy, Erhan, Rabinovich: Training deep neural networks on noisy labels with bootstrapping,
    2015.
    """

    b: float = 0.95

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_numbers("b", rule="from 0 to 1", least=0, most=1)

    def compute(self, logits: Tensor, labels: Tensor) -> Tensor:
        p = clipped_softmax(logits)
        target = self.b * to_one_hot(labels, logits.shape[1]).to(p) + (1 - self.b) * p
        return self.reduce(-(target * p.log()).sum(1))
