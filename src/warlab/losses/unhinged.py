"""Unhinged: a loss that is linear in the score of the label."""

from torch import Tensor, nn
from torch.nn.functional import batch_norm

from warlab.losses.base import RobustLoss


class UnhingedLoss(RobustLoss):
    r"""The unhinged loss, which symmetric noise only rescales.

    .. math:: L(z, y) = \frac{1}{C} \sum_c (1 - y_c \, z_c) = 1 - \frac{z_y}{C}

    There is no softmax, and nothing in the loss keeps the scores z from growing for ever. Put a batch norm after the
    network, as the code of Patrini et al., 2017, does: ``nn.Sequential(network, ScoreNorm(classes))``. The class with
    the highest score is predicted.

    Parameters
    ----------
    reduction : "mean" or "none"
        The mean over the batch, or one value per label. Default "mean".

    Examples
    --------
    >>> import torch
    >>> from warlab.losses import UnhingedLoss
    >>> UnhingedLoss()(torch.tensor([[2.0, 0.0, -1.0, 0.5]]), torch.tensor([0])).item()
    0.5

    References
    ----------
    van Rooyen, Menon, Williamson: Learning with symmetric label noise: the importance of being unhinged, 2015.
    """

    def compute(self, logits: Tensor, labels: Tensor) -> Tensor:
        return 1 - self.reduce(logits.gather(1, labels[:, None])[:, 0]) / logits.shape[1]


class ScoreNorm(nn.BatchNorm1d):
    """Batch norm that uses its running statistics for a single sample, which has no batch statistics."""

    def forward(self, input: Tensor) -> Tensor:
        if len(input) > 1:
            return super().forward(input)
        return batch_norm(input, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps)
